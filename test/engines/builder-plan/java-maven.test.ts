import { describe, expect, test } from 'bun:test';
import { type Files, dockerfileOf, planOf, refusal } from './support.ts';

const MAIN = 'package com.example;\n\npublic class Main {\n  public static void main(String[] args) {}\n}\n';
const SPRING_PARENT =
  '<parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>4.1.2</version><relativePath/></parent>';

const plugin = (artifact: string, inside = ''): string =>
  `<plugin><artifactId>${artifact}</artifactId>${inside}</plugin>`;

const build = (...plugins: string[]): string => `<build><plugins>${plugins.join('')}</plugins></build>`;

const properties = (values: Record<string, string>): string =>
  `<properties>\n${Object.entries(values)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('\n')}</properties>`;

const pom = (...parts: string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<project xmlns="http://maven.apache.org/POM/4.0.0">\n<groupId>com.example</groupId><artifactId>demo</artifactId><version>1.0</version>\n${parts.join('\n')}\n</project>\n`;

const module = (artifact: string, ...parts: string[]): string =>
  `<project><parent><groupId>com.example</groupId><artifactId>demo</artifactId><version>1.0</version></parent><artifactId>${artifact}</artifactId>${parts.join('')}</project>`;

const modules = (...names: string[]): string =>
  `<packaging>pom</packaging><modules>${names.map((name) => `<module>${name}</module>`).join('')}</modules>`;

const spring = (...parts: string[]): Files => ({
  'pom.xml': pom(SPRING_PARENT, build(plugin('spring-boot-maven-plugin')), ...parts),
});

const plain = (...parts: string[]): Files => ({
  'pom.xml': pom(...parts),
  'src/main/java/com/example/Main.java': MAIN,
});

const WRAPPER: Files = {
  mvnw: '#!/bin/sh\n',
  '.mvn/wrapper/maven-wrapper.properties':
    'distributionUrl=https://repo.maven.apache.org/maven2/org/apache/maven/apache-maven/3.9.16/apache-maven-3.9.16-bin.zip\n',
};

const javaOf = (files: Files, env: Record<string, string> = {}): string => planOf(files, { env }).decisions[0] ?? '';

describe('the version of Java', () => {
  test.each([
    ['nothing', plain(), 'Java 21: the default: nothing in the source names a version'],
    ["Spring's property", spring(properties({ 'java.version': '17' })), 'Java 17: java.version in pom.xml:7 says so'],
    [
      "Spring Boot's own default",
      spring(),
      'Java 17: Spring Boot 4 in pom.xml says "17"'.replace('says "17"', 'says so'),
    ],
    [
      'the release of the compiler',
      plain(properties({ 'maven.compiler.release': '25' })),
      'Java 25: maven.compiler.release in pom.xml:5 says so',
    ],
    [
      'the old way to write 8',
      plain(properties({ 'maven.compiler.source': '1.8', 'maven.compiler.target': '1.8' })),
      'Java 8: maven.compiler.target in pom.xml:6 says "1.8"',
    ],
    [
      'a release that needs a newer compiler',
      plain(properties({ 'maven.compiler.release': '8' })),
      'Java 11: maven.compiler.release in pom.xml:5 (8, by a compiler that knows releases) says "9"',
    ],
    [
      'a version between two that are kept up',
      plain(properties({ 'maven.compiler.release': '19' })),
      'Java 21: maven.compiler.release in pom.xml:5 says "19"',
    ],
    [
      "the compiler plugin's configuration, with a property",
      plain(
        properties({ jdk: '17' }),
        build(plugin('maven-compiler-plugin', '<configuration><release>${jdk}</release></configuration>')),
      ),
      'Java 17: <release> of maven-compiler-plugin in pom.xml says so',
    ],
    [
      "Kotlin's target, where it is the newest",
      plain(properties({ 'maven.compiler.target': '11', 'kotlin.compiler.jvmTarget': '21' })),
      'Java 21: kotlin.compiler.jvmTarget in pom.xml:6 says so',
    ],
    [
      'a newer JDK in a version file',
      { ...spring(properties({ 'java.version': '17' })), '.java-version': '21\n' },
      'Java 21: java.version in pom.xml:7 says "17", and .java-version says so',
    ],
    [
      'an older JDK in a version file, which could not compile it',
      { ...spring(properties({ 'java.version': '21' })), '.java-version': '17\n' },
      'Java 21: java.version in pom.xml:7 says so',
    ],
    ['.sdkmanrc', { ...plain(), '.sdkmanrc': '# sdk\njava=17.0.13-tem\n' }, 'Java 17: .sdkmanrc:2 says "17.0.13-tem"'],
    [
      '.tool-versions',
      { ...plain(), '.tool-versions': 'java temurin-11.0.20+8\n' },
      'Java 11: .tool-versions:1 says "temurin-11.0.20+8"',
    ],
    [
      'mise.toml',
      { ...plain(), 'mise.toml': '[tools]\njava = "zulu-17.30.15"\n' },
      'Java 17: mise.toml:2 says "zulu-17.30.15"',
    ],
    [
      'system.properties',
      { ...plain(), 'system.properties': 'java.runtime.version=1.8\n' },
      'Java 8: system.properties:1 says "1.8"',
    ],
    [
      'GraalVM',
      { ...plain(), '.java-version': 'graalvm-22.3.1+java17\n' },
      'Java 17: .java-version says "graalvm-22.3.1+java17"',
    ],
  ] as [string, Files, string][])('%s', (_title, files, decision) => {
    expect(javaOf(files)).toBe(decision);
  });

  test('an override wins, and an exact release is taken for its line: images are tagged by line', () => {
    expect(javaOf(spring(properties({ 'java.version': '17' })), { BERTH_VERSION: '25.0.1+8' })).toBe(
      'Java 25: [build] version says so',
    );
  });

  test.each([
    ['99', 'maven.compiler.release in pom.xml:5 asks for Java "99", which no known version satisfies'],
    ['latest', 'maven.compiler.release in pom.xml:5 asks for Java "latest", which is no version'],
  ])('%s is refused with its place', (written, message) => {
    expect(refusal(plain(properties({ 'maven.compiler.release': written }))).message).toBe(message);
  });
});

const commandOf = (files: Files): string => planOf(files).build.at(-1) ?? '';

describe('the command', () => {
  test.each([
    ['without a wrapper', spring(), 'mvn -B -ntp -Dmaven.test.skip=true package'],
    ['with one', { ...spring(), ...WRAPPER }, 'sh ./mvnw -B -ntp -Dmaven.test.skip=true package'],
    [
      'with an old one',
      {
        ...spring(),
        ...WRAPPER,
        '.mvn/wrapper/maven-wrapper.properties': 'distributionUrl=https\\://x/apache-maven-3.5.4-bin.zip\n',
      },
      'sh ./mvnw -B -Dmaven.test.skip=true package',
    ],
    [
      'with settings and a profile for production',
      { ...spring('<profiles><profile><id>prod</id></profile></profiles>'), 'settings.xml': '<settings/>' },
      'mvn -B -ntp -Dmaven.test.skip=true -s settings.xml -Pprod package',
    ],
    [
      'with a plugin that wants the history',
      {
        'pom.xml': pom(SPRING_PARENT, build(plugin('spring-boot-maven-plugin'), plugin('git-commit-id-maven-plugin'))),
      },
      'mvn -B -ntp -Dmaven.test.skip=true -Dmaven.gitcommitid.skip=true package',
    ],
    [
      'with libraries beside the jar',
      plain(),
      'mvn -B -ntp -Dmaven.test.skip=true package dependency:copy-dependencies -DincludeScope=runtime',
    ],
  ] as [string, Files, string][])('%s', (_title, files, command) => {
    expect(commandOf(files)).toBe(command);
  });

  test('an incomplete wrapper is not used, and the log says so', () => {
    const plan = planOf({ ...spring(), mvnw: '#!/bin/sh\n' });
    expect(plan.build).toEqual(['mvn -B -ntp -Dmaven.test.skip=true package']);
    expect(plan.warnings[0]).toContain('.mvn/wrapper/maven-wrapper.properties is missing');
  });

  test('a wrapper from Windows gets line ends that a shell reads', () => {
    expect(planOf({ ...spring(), ...WRAPPER, mvnw: '#!/bin/sh\r\n' }).build[0]).toBe("sed -i 's/\\r$//' ./mvnw");
  });

  test('what an upload brought along in target is not taken for what is built', () => {
    expect(planOf({ ...spring(), 'target/old.jar': '' }).build[0]).toBe('rm -rf target');
  });

  test('tests of another module are compiled where a module needs them', () => {
    const files = {
      'pom.xml': pom(modules('a', 'b')),
      'a/pom.xml': module(
        'a',
        '<dependencies><dependency><artifactId>b</artifactId><type>test-jar</type></dependency></dependencies>',
      ),
      'b/pom.xml': module('b'),
      'a/src/main/java/com/example/Main.java': MAIN,
    };
    expect(commandOf(files)).toStartWith('mvn -B -ntp -DskipTests -pl a -am package');
  });
});

const SHADE = plugin(
  'maven-shade-plugin',
  '<executions><execution><goals><goal>shade</goal></goals><configuration><transformers><transformer><mainClass>com.example.Main</mainClass></transformer></transformers></configuration></execution></executions>',
);
const ASSEMBLY = plugin(
  'maven-assembly-plugin',
  '<configuration><descriptorRefs><descriptorRef>jar-with-dependencies</descriptorRef></descriptorRefs><archive><manifest><mainClass>${main.class}</mainClass></manifest></archive></configuration><executions><execution><goals><goal>single</goal></goals></execution></executions>',
);
const JAR = (main: string): string =>
  plugin(
    'maven-jar-plugin',
    `<configuration><archive><manifest><mainClass>${main}</mainClass></manifest></archive></configuration>`,
  );
const dependency = (group: string, artifact: string): string =>
  `<dependencies><dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId></dependency></dependencies>`;

const startOf = (files: Files, service = 'web'): string => planOf(files, { service }).start.join(' ');

describe('what runs', () => {
  test.each([
    ['Spring Boot', spring(), 'Spring Boot', 'exec java $JAVA_OPTS -Dserver.port="${PORT:-8080}" -jar app.jar'],
    [
      'Spring Boot as a war',
      spring('<packaging>war</packaging>'),
      'Spring Boot',
      'exec java $JAVA_OPTS -Dserver.port="${PORT:-8080}" -jar app.war',
    ],
    [
      'Spring Boot without its parent, and without an execution that repackages',
      plain(build(plugin('spring-boot-maven-plugin'))),
      'Spring Boot',
      'exec java $JAVA_OPTS -Dserver.port="${PORT:-8080}" -cp \'app.jar:lib/*\' com.example.Main',
    ],
    [
      'Quarkus',
      { 'pom.xml': pom(build(plugin('quarkus-maven-plugin'))) },
      'Quarkus',
      'exec java $JAVA_OPTS -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port="${PORT:-8080}" -jar quarkus-run.jar',
    ],
    [
      'Micronaut',
      {
        'pom.xml': pom(
          '<parent><groupId>io.micronaut.platform</groupId><artifactId>micronaut-parent</artifactId><version>4.9.0</version></parent><packaging>${packaging}</packaging>',
          properties({ packaging: 'jar' }),
        ),
      },
      'Micronaut',
      'exec java $JAVA_OPTS -Dmicronaut.server.port="${PORT:-8080}" -jar app.jar',
    ],
    ['a shaded jar', { 'pom.xml': pom(build(SHADE)) }, null, 'exec java $JAVA_OPTS -jar app.jar'],
    [
      'an assembled jar of Ktor',
      {
        'pom.xml': pom(
          properties({ 'main.class': 'io.ktor.server.netty.EngineMain' }),
          dependency('io.ktor', 'ktor-server-netty-jvm'),
          build(ASSEMBLY),
        ),
      },
      'Ktor',
      'exec java $JAVA_OPTS -jar app.jar -port="${PORT:-8080}"',
    ],
    [
      'the class that the jar plugin names',
      { 'pom.xml': pom(build(JAR('com.example.Server'))) },
      null,
      "exec java $JAVA_OPTS -cp 'app.jar:lib/*' com.example.Server",
    ],
    [
      'the class of the exec plugin',
      { 'pom.xml': pom(properties({ 'exec.mainClass': 'com.example.Server' })) },
      null,
      "exec java $JAVA_OPTS -cp 'app.jar:lib/*' com.example.Server",
    ],
    ['the only main method', plain(), null, "exec java $JAVA_OPTS -cp 'app.jar:lib/*' com.example.Main"],
    [
      "Kotlin's main function",
      {
        'pom.xml': pom(),
        'src/main/kotlin/app.kt': 'package a.b\n\n// fun main()\nfun main(args: Array<String>) {}\n',
      },
      null,
      "exec java $JAVA_OPTS -cp 'app.jar:lib/*' a.b.AppKt",
    ],
    [
      "Kotlin's main function in a file with a name of its own",
      { 'pom.xml': pom(), 'src/main/kotlin/app.kt': '@file:JvmName("Server")\n\nfun main() = run()\n' },
      null,
      "exec java $JAVA_OPTS -cp 'app.jar:lib/*' Server",
    ],
  ] as [string, Files, string | null, string][])('%s', (_title, files, framework, command) => {
    const plan = planOf(files);
    expect({ framework: plan.framework, start: plan.start }).toEqual({ framework, start: ['/bin/sh', '-c', command] });
  });

  test('a main method in a comment is none', () => {
    const error = refusal({
      'pom.xml': pom(),
      'src/main/java/A.java': '// public static void main(String[] a)\nclass A {}',
    });
    expect(error.kind).toBe('NO_PROVIDER_DETECTED');
    expect(error.message).toStartWith('a Maven project was detected, but it has no start command');
  });

  test('several main methods are an error that lists them', () => {
    const error = refusal({ ...plain(), 'src/main/java/com/example/Tool.java': MAIN });
    expect(error.message).toBe('several classes have a main method: com.example.Main, com.example.Tool');
    expect(error.hint).toContain('exec.mainClass');
  });

  test('a war without a server is refused with a way out', () => {
    expect(refusal({ 'pom.xml': pom('<packaging>war</packaging>') }).message).toStartWith('the packaging war needs');
  });

  test('a broken pom.xml is refused with its line', () => {
    expect(refusal({ 'pom.xml': '<project>\n<a>\n</project>\n' }).message).toStartWith('pom.xml:3: Missing end tag');
  });

  test('a start command of the user finds the files where the build leaves them', () => {
    const files = { ...spring(), Procfile: 'web: java -jar target/demo-1.0.jar\n' };
    const plan = planOf(files);
    expect(plan.start).toEqual(['java', '-jar', 'target/demo-1.0.jar']);
    expect(dockerfileOf(files)).toContain('COPY --from=build --chown=1000:1000 /app/ ./\n');
    expect(dockerfileOf(files)).not.toContain('/out/app');
  });

  test('a build command of the user is run, and its jar is found', () => {
    const text = dockerfileOf(spring(), {
      env: { BERTH_BUILD: 'mvn verify', BERTH_INSTALL: 'mvn dependency:resolve' },
    });
    expect(text).toContain('mvn dependency:resolve && mvn verify && jar=');
  });

  test('the folder of a site is served as files', () => {
    const plan = planOf(spring(), { env: { BERTH_OUTPUT: 'target/site' } });
    expect(plan.staticRoot).toBe('target/site');
    expect(dockerfileOf(spring(), { env: { BERTH_OUTPUT: 'target/site' } })).toContain('/app/target/site/ /srv/');
  });

  test('names that Java would not take never reach a command', () => {
    expect(refusal({ 'pom.xml': pom(properties({ 'exec.mainClass': 'A;curl evil' })) }).kind).toBe(
      'NO_PROVIDER_DETECTED',
    );
  });
});

const several = (first: string, second: string): Files => ({
  'pom.xml': pom(SPRING_PARENT, modules('core', 'api', 'worker')),
  'core/pom.xml': module('core'),
  'api/pom.xml': module('api', first),
  'worker/pom.xml': module('worker', second),
});

const BOOT = build(plugin('spring-boot-maven-plugin'));

describe('several modules', () => {
  test('the only one that can be run', () => {
    const plan = planOf(several(BOOT, ''));
    expect(plan.decisions).toContain('module api: the only one that can be run');
    expect(plan.build).toEqual(['mvn -B -ntp -Dmaven.test.skip=true -pl api -am package']);
    expect(dockerfileOf(several(BOOT, ''))).toContain('ls -S api/target/*.jar');
  });

  test('the one with the name of the service', () => {
    const plan = planOf(several(BOOT, BOOT), { service: 'worker' });
    expect(plan.build).toEqual(['mvn -B -ntp -Dmaven.test.skip=true -pl worker -am package']);
  });

  test('several and no choice are an error that lists them', () => {
    const error = refusal(several(BOOT, BOOT));
    expect(error.message).toBe('this project has several modules that can be run: api, worker');
    expect(error.hint).toContain('set root = "api"');
  });

  test('root names a module, and the whole project is its context', () => {
    const files = { ...several(BOOT, BOOT), ...WRAPPER };
    const plan = planOf(files, { env: { BERTH_ROOT: 'worker' } });
    expect(plan.build).toEqual(['sh ./mvnw -B -ntp -Dmaven.test.skip=true -pl worker -am package']);
    expect(dockerfileOf(files, { env: { BERTH_ROOT: 'worker' } })).toContain('COPY source/ ./\n');
  });

  test('a project with a parent beside it that does not list it', () => {
    const files = {
      'parent/pom.xml': pom('<packaging>pom</packaging>', properties({ 'java.version': '17' })),
      'app/pom.xml': module('app').replace(
        '</version></parent>',
        '</version><relativePath>../parent</relativePath></parent>',
      ),
      'app/src/main/java/com/example/Main.java': MAIN,
    };
    const plan = planOf(files, { env: { BERTH_ROOT: 'app' } });
    expect(plan.decisions[0]).toBe('Java 17: java.version in parent/pom.xml:6 says so');
    expect(plan.build.at(-1)).toStartWith('mvn -B -ntp -Dmaven.test.skip=true -f app/pom.xml package');
    expect(dockerfileOf(files, { env: { BERTH_ROOT: 'app' } })).toContain('COPY source/ ./\n');
  });

  test('a project of its own in a folder has no other context', () => {
    const files = Object.fromEntries(Object.entries(spring()).map(([path, text]) => [`backend/${path}`, text]));
    expect(dockerfileOf(files, { env: { BERTH_ROOT: 'backend' } })).toContain('COPY source/backend/ ./\n');
  });

  test('modules that lead round in a circle end', () => {
    expect(startOf({ ...plain('<modules><module>.</module></modules>') })).toContain('com.example.Main');
  });
});

test('a front end in the same folder does not hide the app', () => {
  const files = { ...spring(), 'package.json': '{"scripts":{"start":"vite"}}' };
  expect(planOf(files).provider).toBe('java');
});

test('the Dockerfile of Spring Boot', () => {
  expect(dockerfileOf({ ...spring(), ...WRAPPER, 'config/application.yml': '', 'public/a.css': '' })).toBe(
    `FROM eclipse-temurin:17-jdk AS build
WORKDIR /app
ENV MAVEN_OPTS=-XX:TieredStopAtLevel=1
COPY source/ ./
RUN --mount=type=cache,id=berth-shop-web-m2,target=/root/.m2,sharing=locked --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && sh ./mvnw -B -ntp -Dmaven.test.skip=true package && jar="$(ls -S target/*.jar | grep -Ev '(-sources|-javadoc|-tests|-plain)[.]jar$' | head -n 1)" && : "\${jar:?the build left no jar in target}" && mkdir -p /out/app && cp "$jar" /out/app/app.jar

FROM eclipse-temurin:17-jre AS runtime
RUN if id ubuntu >/dev/null 2>&1; then userdel ubuntu; fi && useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
WORKDIR /app
COPY --from=build /out/app/ ./
COPY --chown=1000:1000 source/config/ ./config/
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 JAVA_TOOL_OPTIONS="-XX:MaxRAMPercentage=70 -XX:+ExitOnOutOfMemoryError" PORT=8080
USER app
EXPOSE 8080
CMD ["/bin/sh","-c","exec java $JAVA_OPTS -Dserver.port=\\"\${PORT:-8080}\\" -jar app.jar"]
`,
  );
});

test('the Dockerfile of a plain jar with its libraries', () => {
  expect(dockerfileOf(plain())).toContain(
    `package dependency:copy-dependencies -DincludeScope=runtime && jar="$(ls -S target/*.jar | grep -Ev '(-sources|-javadoc|-tests|-plain)[.]jar$' | head -n 1)" && : "\${jar:?the build left no jar in target}" && mkdir -p target/dependency /out/app && cp -r target/dependency /out/lib && cp "$jar" /out/app/app.jar\n`,
  );
  expect(dockerfileOf(plain())).toContain('COPY --from=build /out/lib/ ./lib/\nCOPY --from=build /out/app/ ./\n');
});
