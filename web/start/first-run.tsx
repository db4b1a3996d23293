import { useState } from 'react';
import { PageHead } from '../ui/layout.tsx';
import type { Source } from './source.ts';
import { Deployer } from './deployer.tsx';
import { Examples } from './examples.tsx';
import { Lines } from './lines.tsx';

/** From nothing to a live app. */
export const FirstRun = ({ onBegun }: { onBegun?: (begun: boolean) => void }) => (
  <>
    <PageHead title="Nothing runs here yet" below="Bring an app: it is built, given an address, and kept running." />
    <WaysToDeploy {...(onBegun !== undefined && { onBegun })} />
  </>
);

interface WaysProps {
  project?: string;
  /** Told when something was brought, and when it was put back. */
  onBegun?: (begun: boolean) => void;
}

/** Drop it, pick it, or copy the lines. */
export const WaysToDeploy = ({ project, onBegun }: WaysProps) => {
  const [source, setSource] = useState<Source>();
  const take = (next: Source | undefined): void => {
    setSource(next);
    onBegun?.(next !== undefined);
  };
  return (
    <div className="start">
      <Deployer source={source} onSource={take} {...(project !== undefined && { project })} />
      {source === undefined && (
        <>
          <section aria-labelledby="examples">
            <h2 id="examples">Or start from an example</h2>
            <Examples onSource={take} />
          </section>
          <section aria-labelledby="lines">
            <h2 id="lines">Or from where your code is</h2>
            <Lines {...(project !== undefined && { project })} />
          </section>
        </>
      )}
    </div>
  );
};
