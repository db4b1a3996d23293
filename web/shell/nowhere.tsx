import type { LocationName } from '../locations.ts';
import { to } from '../locations.ts';
import { LinkButton } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code.tsx';
import { Empty, PageHead } from '../ui/layout.tsx';

export const NoSuchPlace = () => (
  <>
    <PageHead title="Nothing here" />
    <Empty
      icon="anchor"
      title="This address leads nowhere"
      action={<LinkButton to={to('home')}>All projects</LinkButton>}
    >
      It may be mistyped, or what it named is gone.
    </Empty>
  </>
);

/** How the same is done in a terminal. */
const COMMANDS: Partial<Record<LocationName, (params: Record<string, string>) => string>> = {
  events: ({ project }) => `berth events -p ${project ?? ''}`,
  env: ({ project }) => `berth env list -p ${project ?? ''}`,
  datastores: ({ project }) => `berth db list -p ${project ?? ''}`,
  repos: ({ project }) => `berth repos list -p ${project ?? ''}`,
  logs: ({ project, service }) => `berth logs -p ${project ?? ''} -s ${service ?? ''}`,
  operations: () => 'berth operations',
  tokens: () => 'berth tokens list',
  admin: () => 'berth capacity',
};

export const NotThereYet = ({ name, params }: { name: LocationName; params: Record<string, string> }) => {
  const command = COMMANDS[name]?.(params);
  return (
    <>
      <PageHead title="Not in the dashboard yet" />
      <Empty icon="terminal" title="This page is still to be made">
        {command === undefined ? 'The API and the command line client have it.' : 'In a terminal it is there:'}
      </Empty>
      {command !== undefined && <CodeBlock code={command} />}
    </>
  );
};
