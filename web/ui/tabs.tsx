import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';

interface Tab {
  id: string;
  label: string;
  content: () => ReactNode;
}

/** Tabs without addresses of their own, after the WAI-ARIA pattern; see `LinkTabs` for sections of a page. */
export const Tabs = ({ label, tabs }: { label: string; tabs: readonly Tab[] }) => {
  const id = useId();
  const [chosen, setChosen] = useState(tabs[0]?.id);
  const current = tabs.find((tab) => tab.id === chosen);
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    setChosen(next.id);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return (
    <div>
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => setChosen(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${current?.id ?? ''}`}>
        {current?.content()}
      </div>
    </div>
  );
};
