import { useState } from 'react';
import { PageHead } from '../ui/layout.tsx';
import type { Source } from './collect.ts';
import { Deployer } from './deployer.tsx';
import { Examples } from './examples.tsx';
import { Lines } from './lines.tsx';

/** From nothing to a live app. */
export const FirstRun = () => (
  <>
    <PageHead title="Nothing runs here yet" below="Bring an app: it is built, given an address, and kept running." />
    <WaysToDeploy />
  </>
);

/** Drop it, pick it, or copy the lines. */
export const WaysToDeploy = ({ project }: { project?: string }) => {
  const [source, setSource] = useState<Source>();
  return (
    <div className="start">
      <Deployer source={source} onSource={setSource} {...(project !== undefined && { project })} />
      {source === undefined && (
        <>
          <section aria-labelledby="examples">
            <h2 id="examples">Or start from an example</h2>
            <Examples onSource={setSource} />
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
