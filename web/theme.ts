// Runs before the first paint, as a plain script: the theme that this browser was set to. `shell/theme.ts` sets it.
const chosen = localStorage.getItem('berth.theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
