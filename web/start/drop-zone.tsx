import { useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { sourceOfDrop, sourceOfFiles, type Source } from './collect.ts';

interface DropZoneProps {
  onSource: (source: Source) => void;
  onError: (error: unknown) => void;
}

/** Takes a folder or an archive: dropped anywhere on the page, or chosen. */
export const DropZone = ({ onSource, onError }: DropZoneProps) => {
  const [over, setOver] = useState(false);
  const [reading, setReading] = useState(false);
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);

  const take = (source: Promise<Source>): void => {
    setReading(true);
    source.then(onSource, onError).finally(() => setReading(false));
  };
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
      if (dataTransfer !== null && dataTransfer.items.length > 0) latest.current(sourceOfDrop(dataTransfer));
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

  return (
    <div className={over ? 'drop over' : 'drop'}>
      <span className="drop-dock" aria-hidden="true">
        <Icon name="folder" size={28} />
      </span>
      <strong>{over ? 'Let go to deploy' : 'Drop a folder here'}</strong>
      <p className="quiet">
        Or a <code>.tar.gz</code>. What <code>.serviceignore</code> lists stays here, and so do <code>.git</code> and{' '}
        <code>node_modules</code>.
      </p>
      <div className="row wrap">
        <Button icon="folder" busy={reading} onClick={() => folder.current?.click()}>
          Choose a folder
        </Button>
        <Button icon="file" busy={reading} onClick={() => archive.current?.click()}>
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
        onChange={({ target }) => take(sourceOfFiles([...(target.files ?? [])]))}
      />
      <input
        ref={archive}
        type="file"
        hidden
        accept=".gz,.tgz,application/gzip"
        aria-label="Archive to deploy"
        onChange={({ target }) => take(sourceOfFiles([...(target.files ?? [])]))}
      />
    </div>
  );
};
