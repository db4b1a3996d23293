import { CodeBlock } from '../ui/code.tsx';
import { Tabs } from '../ui/tabs.tsx';

/** The exact lines for this server: command line, git, and agents. */
export const Lines = ({ project = 'shop', service = 'web' }: { project?: string; service?: string }) => {
  const { origin } = location;
  return (
    <Tabs
      label="Other ways to deploy"
      tabs={[
        {
          id: 'cli',
          label: 'Command line',
          content: () => (
            <CodeBlock
              code={`curl -fsSL ${origin}/install.sh | sh\nberth login ${origin}\nberth deploy . -p ${project} -s ${service}`}
            />
          ),
        },
        {
          id: 'git',
          label: 'git push',
          content: () => (
            <div className="stack tight">
              <CodeBlock
                code={`berth repos create app -p ${project} --deploy ${service}\ngit remote add berth ${origin}/git/${project}/app.git\ngit push berth main`}
              />
              <p className="small quiet">git asks for a password: give it a token with the capability manage_repos.</p>
            </div>
          ),
        },
        {
          id: 'mcp',
          label: 'MCP',
          content: () => (
            <div className="stack tight">
              <CodeBlock
                code={`claude mcp add --transport http berth ${origin}/mcp --header "Authorization: Bearer $SERVICE_TOKEN"`}
              />
              <p className="small quiet">
                Any client of the Model Context Protocol can use <code>{origin}/mcp</code> with a token, or run{' '}
                <code>berth mcp</code>.
              </p>
            </div>
          ),
        },
        {
          id: 'api',
          label: 'curl',
          content: () => (
            <CodeBlock
              code={`tar -czf - . | curl --data-binary @- -H "Authorization: Bearer $SERVICE_TOKEN" \\\n  -H "Content-Type: application/gzip" \\\n  ${origin}/v1/projects/${project}/services/${service}/deploys`}
            />
          ),
        },
      ]}
    />
  );
};
