import { Type, type Static, type TSchema } from '@sinclair/typebox';

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const Commands = (description: string) => Type.Array(Type.String(), { description });

/** How a deploy would build the source; part of a planned release. Keys may come, and none goes. */
export const PlannedBuildSchema = Type.Object(
  {
    provider: Type.String({ description: 'what detected the app: dockerfile, node, python, …', examples: ['node'] }),
    framework: nullable(Type.String({ examples: ['Next.js'] })),
    root: Type.String({ description: 'folder of the app inside the source; empty for the source itself' }),
    versions: Type.Array(
      Type.Object({
        tool: Type.String({ examples: ['node'] }),
        version: Type.String({ examples: ['22'] }),
        reason: Type.String({ examples: ['.nvmrc says "22"'] }),
      }),
    ),
    package_manager: nullable(
      Type.Object({
        name: Type.String({ examples: ['pnpm'] }),
        version: nullable(Type.String()),
        lock_file: nullable(Type.String()),
        reason: Type.String(),
      }),
    ),
    install: Commands('shell commands that install the dependencies'),
    build: Commands('shell commands that build the app'),
    start: Commands('words of the command that the container runs; none for a Dockerfile of your own'),
    release_command: nullable(Commands('words of the command that runs once before the new release takes traffic')),
    apt: Type.Object({
      build: Commands('Debian packages for the build'),
      run: Commands('Debian packages of the image'),
    }),
    static_root: nullable(Type.String({ description: 'folder of the built site that is served as files' })),
    decisions: Type.Array(Type.String(), {
      description: 'what was decided and why; the build log begins with these lines',
    }),
    warnings: Type.Array(Type.String()),
  },
  { description: 'how the source would be built, of a planned release' },
);

export type PlannedBuild = Static<typeof PlannedBuildSchema>;
