import { describe, expect, test } from 'bun:test';
import { type Files, dockerfileOf, fileOf, planOf, refusal } from './support.ts';

const project = (sdk: string, inside = '<TargetFramework>net8.0</TargetFramework>', more = ''): string =>
  `<Project Sdk="Microsoft.NET.Sdk${sdk}"><PropertyGroup>${inside}</PropertyGroup>${more}</Project>`;
const WEB = project('.Web');
const CONSOLE = project('', '<OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework>');
const LIBRARY = project('');
const published = (files: Files, service = 'shop'): string | undefined =>
  /dotnet publish '([^']+)'/.exec(planOf(files, { service }).build[0] ?? '')?.[1];
const images = (files: Files): string[] =>
  planOf(files).stages.map(({ from }) => from.replace('mcr.microsoft.com/dotnet/', ''));

describe('the project to publish', () => {
  test.each<[string, Files, string, string]>([
    ['the one at the root', { 'Shop.csproj': WEB }, 'web', 'Shop.csproj'],
    ['F#', { 'Shop.fsproj': WEB }, 'web', 'Shop.fsproj'],
    [
      'the only web project of a solution',
      { 'Shop.sln': '', 'src/Shop.Web/Shop.Web.csproj': WEB, 'src/Core/Core.csproj': LIBRARY },
      'x',
      'src/Shop.Web/Shop.Web.csproj',
    ],
    ['a solution in the newer format', { 'Shop.slnx': '<Solution/>', 'Web/Web.csproj': WEB }, 'x', 'Web/Web.csproj'],
    [
      'a web project over a tool',
      { 'Shop.sln': '', 'Web/Web.csproj': WEB, 'Tool/Tool.csproj': CONSOLE },
      'x',
      'Web/Web.csproj',
    ],
    [
      'a web project over the pages it hosts',
      { 'Shop.sln': '', 'Server/Server.csproj': WEB, 'Client/Client.csproj': project('.BlazorWebAssembly') },
      'x',
      'Server/Server.csproj',
    ],
    ['a worker', { 'Shop.sln': '', 'W/W.csproj': project('.Worker'), 'Core/Core.csproj': LIBRARY }, 'x', 'W/W.csproj'],
    ['a program', { 'Tool.csproj': CONSOLE }, 'x', 'Tool.csproj'],
    [
      'the one with the name of the service',
      { 'Shop.sln': '', 'A/Shop.Api.csproj': WEB, 'B/Shop.Admin.csproj': WEB },
      'api',
      'A/Shop.Api.csproj',
    ],
    [
      'the one in the folder of the service',
      { 'Shop.sln': '', 'api/A.csproj': WEB, 'admin/B.csproj': WEB },
      'admin',
      'admin/B.csproj',
    ],
    [
      'not a test',
      {
        'Shop.sln': '',
        'Web/Web.csproj': WEB,
        'Tests/T.csproj': project(
          '.Web',
          undefined,
          '<ItemGroup><PackageReference Include="xunit" Version="2" /></ItemGroup>',
        ),
      },
      'x',
      'Web/Web.csproj',
    ],
    [
      'not the host of Aspire',
      {
        'Shop.sln': '',
        'Web/Web.csproj': WEB,
        'Host/Host.csproj': `<Project Sdk="Microsoft.NET.Sdk"><Sdk Name="Aspire.AppHost.Sdk" Version="9.0.0" /><PropertyGroup><OutputType>Exe</OutputType></PropertyGroup></Project>`,
      },
      'x',
      'Web/Web.csproj',
    ],
    ['not what a build left', { 'Web.csproj': WEB, 'obj/x.csproj': WEB }, 'x', 'Web.csproj'],
    [
      'not in a comment',
      {
        'Shop.sln': '',
        'A/A.csproj': WEB,
        'B/B.csproj': '<Project Sdk="Microsoft.NET.Sdk"><!-- <OutputType>Exe</OutputType> --></Project>',
      },
      'x',
      'A/A.csproj',
    ],
  ])('%s', (_title, files, service, wanted) => {
    expect(published(files, service)).toBe(wanted);
  });

  test('several and no choice are an error that lists them', () => {
    const error = refusal({ 'Shop.sln': '', 'A/A.csproj': WEB, 'B/B.csproj': WEB });
    expect({ kind: error.kind, message: error.message }).toEqual({
      kind: 'INVALID_INPUT',
      message: 'this solution has several projects that can run: A/A.csproj, B/B.csproj',
    });
  });

  test('libraries alone cannot be started', () => {
    expect(refusal({ 'Core.csproj': LIBRARY }).message).toStartWith(
      'a .NET solution was detected, but it has no start command',
    );
  });

  test('a broken project is named with its line', () => {
    expect(refusal({ 'A.csproj': '<Project>\n<PropertyGroup>\n</Project>' }).message).toStartWith('A.csproj:3: ');
  });

  test('root picks a project, and its solution comes along', () => {
    const plan = planOf(
      {
        'Shop.sln': '',
        'Directory.Packages.props': '<Project/>',
        'A/A.csproj': WEB,
        'B/B.csproj': project(
          '.Web',
          undefined,
          '<ItemGroup><ProjectReference Include="..\\Core\\Core.csproj" /></ItemGroup>',
        ),
        'Core/Core.csproj': LIBRARY,
      },
      { env: { BERTH_ROOT: 'B' } },
    );
    expect(plan.build[0]).toStartWith("dotnet publish 'B/B.csproj'");
    expect(plan.files.map(({ path }) => path)).toEqual([
      'berth/manifests/B/B.csproj',
      'berth/manifests/Core/Core.csproj',
      'berth/manifests/Directory.Packages.props',
    ]);
  });
});

describe('versions and images', () => {
  test.each<[string, Files, string[]]>([
    ['the framework decides', { 'A.csproj': WEB }, ['sdk:8.0', 'aspnet:8.0']],
    [
      'one of Directory.Build.props',
      {
        'A.sln': '',
        'Directory.Build.props':
          '<Project><PropertyGroup><TargetFramework>net9.0</TargetFramework></PropertyGroup></Project>',
        'src/A.csproj': project('.Web', ''),
      },
      ['sdk:9.0', 'aspnet:9.0'],
    ],
    [
      'one of a property',
      { 'A.csproj': project('.Web', '<Line>net9.0</Line><TargetFramework>$(Line)</TargetFramework>') },
      ['sdk:9.0', 'aspnet:9.0'],
    ],
    [
      'a newer SDK of global.json',
      { 'A.csproj': WEB, 'global.json': '{"sdk":{"version":"9.0.100"}}' },
      ['sdk:9.0', 'aspnet:8.0'],
    ],
    [
      'a global.json that goes forward',
      { 'A.csproj': WEB, 'global.json': '{"sdk":{"version":"8.0.100","rollForward":"latestMajor"}}' },
      ['sdk:8.0', 'aspnet:8.0'],
    ],
    ['a program has no ASP.NET', { 'A.csproj': CONSOLE }, ['sdk:8.0', 'runtime:8.0']],
    [
      'a program that uses ASP.NET',
      {
        'A.csproj': project(
          '',
          '<OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework>',
          '<ItemGroup><FrameworkReference Include="Microsoft.AspNetCore.App" /></ItemGroup>',
        ),
      },
      ['sdk:8.0', 'aspnet:8.0'],
    ],
    [
      'native AOT',
      { 'A.csproj': project('.Web', '<TargetFramework>net10.0</TargetFramework><PublishAot>true</PublishAot>') },
      ['sdk:10.0', 'runtime-deps:10.0'],
    ],
    ['the default', { 'A.csproj': project('.Web', '') }, ['sdk:10.0', 'aspnet:10.0']],
    [
      'netcoreapp3.1',
      { 'A.csproj': project('.Web', '<TargetFramework>netcoreapp3.1</TargetFramework>') },
      ['sdk:3.1', 'aspnet:3.1'],
    ],
  ])('%s', (_title, files, wanted) => {
    expect(images(files)).toEqual(wanted);
  });

  test('of several frameworks the newest is published', () => {
    const plan = planOf({
      'A.csproj': project('.Web', '<TargetFrameworks>net8.0;net9.0;netstandard2.0</TargetFrameworks>'),
    });
    expect(plan.build[0]).toContain(" --framework 'net9.0'");
  });

  test.each(['net48', 'net8.0-windows', 'net9.0-android'])('%s does not run on Linux', (framework) => {
    expect(refusal({ 'A.csproj': project('.Web', `<TargetFramework>${framework}</TargetFramework>`) }).message).toBe(
      `A.csproj is for ${framework}, which does not run on Linux`,
    );
  });

  test('global.json gives way to the SDK of the image', () => {
    const plan = planOf({
      'A.csproj': WEB,
      'global.json': '{"sdk":{"version":"8.0.100"},"msbuild-sdks":{"X":"1.0.0"}}',
    });
    expect(JSON.parse(fileOf(plan, 'berth/global.json'))).toEqual({
      sdk: { version: '1.0.0', rollForward: 'latestMajor' },
      'msbuild-sdks': { X: '1.0.0' },
    });
  });

  test('an exact version is taken to the letter', () => {
    expect(planOf({ 'A.csproj': WEB }, { env: { BERTH_VERSION: '8.0.404' } }).stages[0]?.from).toEndWith('sdk:8.0.404');
  });
});

describe('what is installed and started', () => {
  test('a locked restore falls back loudly', () => {
    const plan = planOf({ 'A.csproj': WEB, 'packages.lock.json': '{}' });
    expect(plan.install[0]).toStartWith("dotnet restore 'A.csproj' --locked-mode || { echo 'WARNING: ");
  });

  test.each<[string, string, string[]]>([
    ['web', WEB, ['/bin/sh', '-c', 'ASPNETCORE_HTTP_PORTS="${PORT:-8080}" exec dotnet A.dll']],
    [
      'web before .NET 8',
      project('.Web', '<TargetFramework>net6.0</TargetFramework>'),
      ['/bin/sh', '-c', 'ASPNETCORE_URLS="${ASPNETCORE_URLS:-http://0.0.0.0:${PORT:-8080}}" exec dotnet A.dll'],
    ],
    [
      'another name',
      project('.Web', '<TargetFramework>net8.0</TargetFramework><AssemblyName>shop</AssemblyName>'),
      ['/bin/sh', '-c', 'ASPNETCORE_HTTP_PORTS="${PORT:-8080}" exec dotnet shop.dll'],
    ],
    [
      'native',
      project('.Web', '<TargetFramework>net8.0</TargetFramework><PublishAot>True</PublishAot>'),
      ['/bin/sh', '-c', 'ASPNETCORE_HTTP_PORTS="${PORT:-8080}" exec ./A'],
    ],
    ['a program', CONSOLE, ['dotnet', 'A.dll']],
  ])('%s', (_title, text, start) => {
    expect(planOf({ 'A.csproj': text }).start).toEqual(start);
  });

  test('npm of a project brings Node into the build', () => {
    const plan = planOf({
      'A.csproj': project('.Web', undefined, '<Target Name="x"><Exec Command="npm run build" /></Target>'),
    });
    expect(plan.stages[0]?.steps).toContainEqual({
      kind: 'copy',
      from: 'node:24-slim',
      sources: ['/usr/local/bin/node'],
      target: '/usr/local/bin/node',
    });
  });

  test('credentials of NuGet.config are seen by the restore', () => {
    const files = { 'A.csproj': WEB, 'NuGet.Config': '<configuration><x value="%FEED_TOKEN%" /></configuration>' };
    expect(planOf(files, { env: { FEED_TOKEN: 'x', OTHER: 'y' } }).installEnv).toEqual(['FEED_TOKEN']);
  });

  test('Blazor WebAssembly is served as files', () => {
    const plan = planOf({ 'A.csproj': project('.BlazorWebAssembly') });
    expect({ framework: plan.framework, site: plan.staticRoot, start: plan.start[0] }).toEqual({
      framework: 'Blazor WebAssembly',
      site: '/out/wwwroot',
      start: 'caddy',
    });
    expect(plan.stages.at(-1)?.steps).toContainEqual({
      kind: 'copy',
      from: 'build',
      sources: ['/out/wwwroot/'],
      target: '/srv/',
      owned: true,
    });
  });

  test('a build command of its own needs a start command', () => {
    const own = { 'A.csproj': WEB, 'berth.toml': '[build]\nbuild = "dotnet publish -o out"\n' };
    expect(refusal(own).hint).toStartWith('set start to what it leaves, such as "dotnet out/A.dll"');
    const plan = planOf(own, { env: { BERTH_START: 'dotnet out/A.dll' } });
    expect({ start: plan.start, urls: plan.runtime?.env['ASPNETCORE_URLS'] }).toEqual({
      start: ['dotnet', 'out/A.dll'],
      urls: 'http://0.0.0.0:8080',
    });
  });
});

test('the Dockerfile', () => {
  expect(dockerfileOf({ 'Shop.csproj': WEB, 'Program.cs': '' })).toBe(`FROM mcr.microsoft.com/dotnet/sdk:8.0 AS build
WORKDIR /app
ENV DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
COPY berth/manifests/ ./
RUN --mount=type=cache,id=berth-shop-web-nuget,target=/root/.nuget/packages dotnet restore 'Shop.csproj'
COPY source/ ./
RUN --mount=type=cache,id=berth-shop-web-nuget,target=/root/.nuget/packages --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && dotnet publish 'Shop.csproj' -c Release --self-contained false -p:UseAppHost=false -p:PublishSingleFile=false -o /out

FROM mcr.microsoft.com/dotnet/aspnet:8.0 AS runtime
RUN for user in app ubuntu; do userdel -r "$user" 2>/dev/null || true; done; useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
WORKDIR /app
COPY --from=build --chown=1000:1000 /out/ ./
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 PORT=8080
USER app
EXPOSE 8080
CMD ["/bin/sh","-c","ASPNETCORE_HTTP_PORTS=\\"\${PORT:-8080}\\" exec dotnet Shop.dll"]
`);
});
