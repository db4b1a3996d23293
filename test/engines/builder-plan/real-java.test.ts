import { afterAll, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { docker } from '#test/support/docker.ts';
import { RealBuilds } from './real-support.ts';

const real = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-java-'));

afterAll(async () => {
  await real.destroy();
  await rm(folder, { recursive: true, force: true });
});

const PARENT = '<parent><groupId>com.example</groupId><artifactId>shop</artifactId><version>1.0</version></parent>';
const dependency = (group: string, artifact: string, version: string): string =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;

const server = (greeting: string): string => `package com.example.server;

import com.example.core.Greeting;
import com.google.gson.Gson;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Server {
  public static void main(String[] args) throws Exception {
    var server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv("PORT"))), 0);
    server.createContext("/", exchange -> {
      var body = new Gson().toJson(new Greeting("${greeting}", Runtime.getRuntime().maxMemory() >> 20)).getBytes();
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
  }
}
`;

/** Two modules, a library from the registry, no plugin that would make the jar a program. */
const FILES: Record<string, string> = {
  'pom.xml':
    '<project><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>shop</artifactId><version>1.0</version><packaging>pom</packaging><modules><module>core</module><module>server</module></modules><properties><maven.compiler.release>21</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>',
  'core/pom.xml': `<project><modelVersion>4.0.0</modelVersion>${PARENT}<artifactId>core</artifactId></project>`,
  'core/src/main/java/com/example/core/Greeting.java':
    'package com.example.core;\n\npublic record Greeting(String hello, long heap) {}\n',
  'server/pom.xml': `<project><modelVersion>4.0.0</modelVersion>${PARENT}<artifactId>server</artifactId><dependencies>${dependency('com.example', 'core', '1.0')}${dependency('com.google.code.gson', 'gson', '2.13.1')}</dependencies></project>`,
  'server/src/main/java/com/example/server/Server.java': server('modules'),
};

const write = async (dir: string, files: Record<string, string>): Promise<void> => {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
};

test('modules of Maven: the one with a main method runs with its libraries, and an edit downloads nothing', async () => {
  const dir = join(folder, 'maven-modules');
  await write(dir, FILES);
  const { tag } = await real.build(dir);
  const running = await real.start(tag);
  const page = (await (await running.get('/')).json()) as { hello: string; heap: number };
  expect(page.hello).toBe('modules');
  // 70 % of the container's 512 MB, less what the collector keeps for itself.
  expect(page.heap).toBeGreaterThan(300);
  expect(page.heap).toBeLessThan(380);
  expect((await docker(['exec', running.id, 'id', '-u'])).trim()).toBe('1000');
  expect(await running.stop()).toBeLessThan(5000);
  const state = await docker(['inspect', '-f', '{{.State.ExitCode}}', running.id]);
  expect(state.trim()).toBe('143');

  // Never the same twice: else the engine would have the image from an earlier run.
  const edit = `edited ${Date.now()}`;
  await write(dir, { 'server/src/main/java/com/example/server/Server.java': server(edit) });
  // Offline, Maven fails for whatever the first build did not leave in its cache.
  const edited = await real.build(dir, { MAVEN_ARGS: '--offline' });
  expect(edited.log).toContain('BUILD SUCCESS');
  const again = await real.start(edited.tag);
  expect(await (await again.get('/')).text()).toContain(edit);
  await again.stop();
}, 300_000);
