import { useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { Spinner } from '../ui/status.tsx';
import { sourceOfDrop, sourceOfFiles } from './collect.ts';
import type { Source } from './source.ts';

interface DropZoneProps {
  onBegin: () => void;
  onSource: (source: Source) => void;
  onError: (error: unknown) => void;
}

/** Takes a folder or an archive: dropped anywhere on the page, or chosen. */
export const DropZone = (props: DropZoneProps) => {
  const { reading, take } = useReading(props);
  const over = useDrop((data) => take(nameOf(data), sourceOfDrop(data)));
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  const chosen = (input: HTMLInputElement): void => {
    const files = [...(input.files ?? [])];
    // So that the same one can be chosen again, mended meanwhile.
    input.value = '';
    if (files.length > 0)
      take(files[0]?.webkitRelativePath.split('/')[0] || (files[0]?.name ?? ''), sourceOfFiles(files));
  };
  return (
    <div className={over ? 'drop over' : 'drop'} aria-busy={reading !== undefined}>
      <span className="drop-dock" aria-hidden="true">
        {reading === undefined ? <Icon name="folder" size={28} /> : <Spinner size={24} />}
      </span>
      <strong role="status">
        {reading !== undefined ? `Reading ${reading}` : over ? 'Let go to deploy' : 'Drop a folder or an archive here'}
      </strong>
      <p className="quiet">
        A <code>.zip</code>, <code>.tar</code> or <code>.tar.gz</code> will do. What <code>.serviceignore</code> lists
        is left out, and so are <code>.git</code> and <code>node_modules</code>.
      </p>
      <div className="row wrap">
        <Button icon="folder" disabled={reading !== undefined} onClick={() => folder.current?.click()}>
          Choose a folder
        </Button>
        <Button icon="file" disabled={reading !== undefined} onClick={() => archive.current?.click()}>
          Choose an archive
        </Button>
      </div>
      <input
        ref={folder}
        type="file"
        hidden
        // @ts-expect-error -- of all browsers, and of no types
        webkitdirectory=""
        aria-label="Folder to deploy"
        onChange={({ target }) => chosen(target)}
      />
      <input
        ref={archive}
        type="file"
        hidden
        accept=".zip,.tar,.gz,.tgz,application/zip,application/x-tar,application/gzip"
        aria-label="Archive to deploy"
        onChange={({ target }) => chosen(target)}
      />
    </div>
  );
};

const nameOf = ({ items, files }: DataTransfer): string =>
  items.length === 1 ? (items[0]?.webkitGetAsEntry()?.name ?? files[0]?.name ?? 'it') : `${items.length} items`;

/** Reads one source at a time: of two, the one that was brought last counts. */
const useReading = ({ onBegin, onSource, onError }: DropZoneProps) => {
  const [reading, setReading] = useState<string>();
  const last = useRef<Promise<Source>>(undefined);
  const take = (name: string, source: Promise<Source>): void => {
    last.current = source;
    setReading(name);
    onBegin();
    const unlessLater =
      <T,>(act: (value: T) => void) =>
      (value: T): void => {
        if (last.current !== source) return;
        setReading(undefined);
        act(value);
      };
    source.then(unlessLater(onSource), unlessLater(onError));
  };
  return { reading, take };
};

/** Takes what is dropped anywhere on the page; gives whether something is held over it. */
const useDrop = (take: (data: DataTransfer) => void): boolean => {
  const [over, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    // Otherwise the browser leaves the page, and shows the file.
    const onOver = (event: DragEvent): void => {
      event.preventDefault();
      setOver(event.dataTransfer?.types.includes('Files') === true);
    };
    const onLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      const { dataTransfer } = event;
      if (dataTransfer !== null && dataTransfer.items.length > 0) latest.current(dataTransfer);
    };
    document.addEventListener('dragover', onOver);
    document.addEventListener('dragleave', onLeave);
    document.addEventListener('drop', onDrop);
    return () => {
      document.removeEventListener('dragover', onOver);
      document.removeEventListener('dragleave', onLeave);
      document.removeEventListener('drop', onDrop);
    };
  }, []);
  return over;
};
