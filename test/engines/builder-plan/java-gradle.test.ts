import { describe, expect, test } from 'bun:test';
import { type Files, dockerfileOf, planOf, refusal } from './support.ts';

const wrapper = (version: string): Files => ({
  gradlew: '#!/bin/sh\n',
  'gradle/wrapper/gradle-wrapper.jar': '',
  'gradle/wrapper/gradle-wrapper.properties': `distributionUrl=https\\://services.gradle.org/distributions/gradle-${version}-bin.zip\n`,
});

const kotlin = (plugins: string, more = '', files: Files = {}): Files => ({
  'build.gradle.kts': `plugins {\n    ${plugins}\n}\n${more}`,
  'settings.gradle.kts': 'rootProject.name = "shop"\n',
  ...wrapper('9.1.0'),
  ...files,
});

const BOOT =
  'java\n    id("org.springframework.boot") version "4.1.1"\n    id("io.spring.dependency-management") version "1.1.7"';
const CATALOGUE = `[versions]
ktor = "3.4.0"
java = "21"
[plugins]
kotlin-jvm = { id = "org.jetbrains.kotlin.jvm", version = "2.3.0" }
ktor = { id = "io.ktor.plugin", version.ref = "ktor" }
spring_boot = "org.springframework.boot:4.1.1"
[libraries]
javalin = { module = "io.javalin:javalin", version = "7.0.0" }
`;

describe('the version of Java', () => {
  test.each([
    ['nothing', kotlin('application'), 'Java 21: the default: nothing in the source names a version'],
    [
      'a toolchain',
      kotlin('application', 'java {\n  toolchain {\n    languageVersion = JavaLanguageVersion.of(25)\n  }\n}\n'),
      'Java 25: build.gradle.kts:6 says so',
    ],
    [
      'a toolchain, the old way',
      kotlin('application', 'java.toolchain.languageVersion.set(JavaLanguageVersion.of(17))\n'),
      'Java 17: build.gradle.kts:4 says so',
    ],
    [
      "Kotlin's toolchain",
      kotlin('application', 'kotlin {\n  jvmToolchain(17)\n}\n'),
      'Java 17: build.gradle.kts:5 says so',
    ],
    [
      'a toolchain from the catalogue',
      kotlin('application', 'kotlin { jvmToolchain(libs.versions.java.get().toInt()) }\n', {
        'gradle/libs.versions.toml': CATALOGUE,
      }),
      'Java 21: build.gradle.kts:4 says so',
    ],
    [
      'a level, as a number',
      { ...wrapper('8.14'), 'build.gradle': "plugins { id 'application' }\nsourceCompatibility = 1.8\n" },
      'Java 8: build.gradle:2 says "1.8"',
    ],
    [
      'a level, as a constant',
      {
        ...wrapper('8.14'),
        'build.gradle': "apply plugin: 'application'\ntargetCompatibility = JavaVersion.VERSION_17\n",
      },
      'Java 17: build.gradle:2 says so',
    ],
    [
      'a default that an old Gradle runs on',
      { ...kotlin('application'), ...wrapper('7.6.4') },
      'Java 17: Gradle 7.6.4 in gradle/wrapper/gradle-wrapper.properties says "Java 8 to 19"',
    ],
    [
      "the daemon's",
      kotlin('application', '', { 'gradle/gradle-daemon-jvm.properties': 'toolchainVersion=25\n' }),
      'Java 25: toolchainVersion in gradle/gradle-daemon-jvm.properties says so',
    ],
    [
      'not one in a comment',
      kotlin('application', '// jvmToolchain(8)\n'),
      'Java 21: the default: nothing in the source names a version',
    ],
  ] as [string, Files, string][])('%s', (_title, files, decision) => {
    expect(planOf(files).decisions.find((line) => line.startsWith('Java '))).toBe(decision);
  });

  test('a Java that Gradle does not run on is a toolchain beside it', () => {
    const files = { ...kotlin('application', 'kotlin { jvmToolchain(21) }\n'), ...wrapper('7.6.4') };
    const text = dockerfileOf(files);
    expect(text).toContain('FROM eclipse-temurin:17-jdk AS build\n');
    expect(text).toContain('COPY --from=eclipse-temurin:21-jdk /opt/java/openjdk/ /opt/java/toolchain/\n');
    expect(text).toContain('-Porg.gradle.java.installations.paths=/opt/java/toolchain installDist');
    expect(text).toContain('FROM eclipse-temurin:21-jre AS runtime\n');
  });

  test('so is one that is too old for it', () => {
    const text = dockerfileOf(kotlin('application', 'kotlin { jvmToolchain(11) }\n'));
    expect(text).toContain('FROM eclipse-temurin:17-jdk AS build\n');
    expect(text).toContain('FROM eclipse-temurin:11-jre AS runtime\n');
  });
});

describe('what is built and runs', () => {
  test.each([
    [
      'Spring Boot',
      kotlin(BOOT),
      'Spring Boot',
      'bootJar',
      'exec java $JAVA_OPTS -Dserver.port="${PORT:-8080}" -jar app.jar',
    ],
    [
      'Spring Boot from a catalogue, in Groovy',
      {
        'build.gradle': "plugins {\n  id 'java'\n  alias(libs.plugins.spring.boot)\n}\n",
        'gradle/libs.versions.toml': CATALOGUE,
        ...wrapper('9.1.0'),
      },
      'Spring Boot',
      'bootJar',
      'exec java $JAVA_OPTS -Dserver.port="${PORT:-8080}" -jar app.jar',
    ],
    [
      'Spring Boot as a war',
      kotlin(`${BOOT}\n    war`),
      'Spring Boot',
      'bootWar',
      'exec java $JAVA_OPTS -Dserver.port="${PORT:-8080}" -jar app.war',
    ],
    [
      'Quarkus',
      kotlin('java\n    id("io.quarkus")'),
      'Quarkus',
      'quarkusBuild',
      'exec java $JAVA_OPTS -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port="${PORT:-8080}" -jar quarkus-run.jar',
    ],
    [
      'Micronaut',
      kotlin('id("io.micronaut.application") version "4.5.0"'),
      'Micronaut',
      'installDist',
      'exec env JAVA_OPTS="$JAVA_OPTS -Dmicronaut.server.port=${PORT:-8080}" bin/start',
    ],
    [
      'Ktor with its own main class',
      kotlin(
        'alias(libs.plugins.kotlin.jvm)\n    alias(libs.plugins.ktor)',
        'application {\n  mainClass = "io.ktor.server.netty.EngineMain"\n}\n',
        {
          'gradle/libs.versions.toml': CATALOGUE,
        },
      ),
      'Ktor',
      'installDist',
      'exec bin/start -port="${PORT:-8080}"',
    ],
    [
      'shadow alone',
      kotlin('java\n    id("com.gradleup.shadow") version "9.2.2"', 'dependencies { implementation(libs.javalin) }\n', {
        'gradle/libs.versions.toml': CATALOGUE,
      }),
      'Javalin',
      'shadowJar',
      'exec java $JAVA_OPTS -jar app.jar',
    ],
    [
      'a manifest of its own',
      kotlin('java', 'tasks.jar { manifest { attributes["Main-Class"] = "a.Main" } }\n'),
      null,
      'jar',
      'exec java $JAVA_OPTS -jar app.jar',
    ],
  ] as [string, Files, string | null, string, string][])('%s', (_title, files, ...[framework, task, command]) => {
    const plan = planOf(files);
    expect({ framework: plan.framework, build: plan.build, start: plan.start }).toEqual({
      framework,
      build: [`sh ./gradlew --no-daemon --console=plain --build-cache ${task}`],
      start: ['/bin/sh', '-c', command],
    });
  });

  test('the application plugin alone needs no shell', () => {
    expect(planOf(kotlin('application')).start).toEqual(['bin/start']);
  });

  test('a plugin that is not applied does not count', () => {
    expect(refusal(kotlin('id("org.springframework.boot") version "4.1.1" apply false\n    java')).message).toStartWith(
      'a Gradle project was detected, but it has no start command',
    );
  });

  test('an Android app is refused', () => {
    expect(refusal(kotlin('id("com.android.application")')).message).toStartWith('this is an Android app');
  });

  test('a start command of the user gets everything that is built', () => {
    const files = kotlin('application', '', { Procfile: 'web: build/install/shop/bin/shop\n' });
    expect(planOf(files).build).toEqual([
      'sh ./gradlew --no-daemon --console=plain --build-cache assemble installDist',
    ]);
    expect(planOf(files).start).toEqual(['build/install/shop/bin/shop']);
  });
});

describe('how Gradle comes to it', () => {
  test('without a wrapper: the official image, whose line is remembered', () => {
    const files = { 'build.gradle.kts': 'plugins { application }\n' };
    const plan = planOf(files);
    expect(plan.stages[0]?.from).toBe('gradle:9-jdk21');
    expect(plan.remember).toEqual({ java: '21', gradle: '9' });
    expect(planOf(files, { remembered: { gradle: '8' } }).stages[0]?.from).toBe('gradle:8-jdk21');
  });

  test('with half a wrapper: the image of its version, and a warning', () => {
    const { 'gradle/wrapper/gradle-wrapper.jar': _jar, ...files } = kotlin('application');
    const plan = planOf(files);
    expect(plan.stages[0]?.from).toBe('gradle:9.1.0-jdk21');
    expect(plan.build[0]).toStartWith('gradle --no-daemon');
    expect(plan.warnings[0]).toContain('gradle/wrapper/gradle-wrapper.jar is missing');
  });

  test('pom.xml beside it: the wrapper decides', () => {
    const files = { ...kotlin('application'), 'pom.xml': '<project/>' };
    expect(planOf(files).packageManager?.name).toBe('gradle');
  });
});

const several = (first: string, second: string): Files => ({
  'settings.gradle.kts':
    'rootProject.name = "shop"\ninclude("core", "services:api")\ninclude(":worker")\nproject(":worker").projectDir = file("jobs/worker")\n',
  'core/build.gradle.kts': 'plugins { `java-library` }\n',
  'services/api/build.gradle.kts': `plugins { ${first} }\n`,
  'jobs/worker/build.gradle.kts': `plugins { ${second} }\n`,
  ...wrapper('9.1.0'),
});

describe('several projects', () => {
  test('the only one that can be run', () => {
    const plan = planOf(several('application', '`java-library`'));
    expect(plan.decisions).toContain('project :services:api: the only one that can be run');
    expect(plan.build).toEqual(['sh ./gradlew --no-daemon --console=plain --build-cache :services:api:installDist']);
  });

  test('the one with the name of the service, wherever it lies', () => {
    const files = several('application', 'application');
    expect(planOf(files, { service: 'worker' }).build[0]).toEndWith(':worker:installDist');
    expect(dockerfileOf(files, { service: 'worker' })).toContain('cp -r jobs/worker/build/install/* /out/app');
  });

  test('root names a project, and the whole build is its context', () => {
    const text = dockerfileOf(several('application', 'application'), { env: { BERTH_ROOT: 'services/api' } });
    expect(text).toContain('COPY source/ ./\n');
    expect(text).toContain(' :services:api:installDist ');
  });

  test('several and no choice are an error that lists them', () => {
    const error = refusal(several('application', 'application'));
    expect(error.message).toBe('this build has several projects that can be run: :services:api, :worker');
    expect(error.hint).toContain('set root = "services/api"');
  });

  test('a plugin of the build itself counts for what it applies', () => {
    const files = {
      ...several('id("shop.service")', '`java-library`'),
      'buildSrc/src/main/kotlin/shop.service.gradle.kts': 'plugins {\n  id("shop.common")\n  application\n}\n',
    };
    expect(planOf(files).build[0]).toEndWith(':services:api:installDist');
  });
});

test('the Dockerfile', () => {
  expect(dockerfileOf(kotlin('application'))).toBe(`FROM eclipse-temurin:21-jdk AS build
WORKDIR /app
ENV GRADLE_USER_HOME=/var/cache/gradle
COPY source/ ./
RUN --mount=type=cache,id=berth-shop-web-gradle,target=/var/cache/gradle,sharing=locked --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && sh ./gradlew --no-daemon --console=plain --build-cache installDist && mkdir -p /out/lib && cp -r build/install/* /out/app && for jar in /out/app/lib/*.jar; do [ -e "build/libs/\${jar##*/}" ] || mv "$jar" /out/lib/; done && ln -s "$(ls /out/app/bin | grep -v '[.]bat$' | head -n 1)" /out/app/bin/start && chmod -R a+rX /out/app

FROM eclipse-temurin:21-jre AS runtime
RUN if id ubuntu >/dev/null 2>&1; then userdel ubuntu; fi && useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
WORKDIR /app
COPY --from=build /out/lib/ ./lib/
COPY --from=build /out/app/ ./
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 JAVA_TOOL_OPTIONS="-XX:MaxRAMPercentage=70 -XX:+ExitOnOutOfMemoryError" PORT=8080
USER app
EXPOSE 8080
CMD ["bin/start"]
`);
});

const sbt = (build: string, plugins: string): Files => ({
  'build.sbt': build,
  'project/plugins.sbt': plugins,
  'project/build.properties': 'sbt.version=1.12.9\n',
});
const NATIVE = 'addSbtPlugin("com.github.sbt" % "sbt-native-packager" % "1.11.7")\n';
const PLAY = 'addSbtPlugin("org.playframework" % "sbt-plugin" % "3.0.9")\n';

describe('sbt', () => {
  test.each([
    ['the root project', sbt('enablePlugins(JavaAppPackaging)\n', NATIVE), 'web', 'stage', null],
    [
      'a named one, with its framework',
      sbt(
        'lazy val core = project\nlazy val api = (project in file("server")).enablePlugins(JavaAppPackaging).settings(libraryDependencies += "org.http4s" %% "http4s-ember-server" % "0.23.33")\n',
        NATIVE,
      ),
      'web',
      'api/stage',
      'http4s',
    ],
    [
      'Play',
      sbt('lazy val root = (project in file(".")).enablePlugins(PlayScala)\n', PLAY),
      'web',
      'root/stage',
      'Play',
    ],
    [
      'the one with the name of the service',
      sbt(
        'lazy val a = project.enablePlugins(JavaAppPackaging)\nlazy val b = project.enablePlugins(JavaAppPackaging)\n',
        NATIVE,
      ),
      'b',
      'b/stage',
      null,
    ],
    [
      'assembly',
      sbt('name := "x"\n', 'addSbtPlugin("com.eed3si9n" % "sbt-assembly" % "2.3.1")\n'),
      'web',
      'assembly',
      null,
    ],
  ] as [string, Files, string, string, string | null][])('%s', (_title, files, ...[service, task, framework]) => {
    const plan = planOf(files, { service });
    expect({ build: plan.build, framework: plan.framework }).toEqual({
      build: [`java $SBT_OPTS -Dsbt.supershell=false -Dsbt.color=false -jar /opt/sbt-launch.jar ${task}`],
      framework,
    });
  });

  test('several and no choice are an error that lists them', () => {
    const files = sbt(
      'lazy val a = project.enablePlugins(JavaAppPackaging)\nlazy val b = project.enablePlugins(JavaAppPackaging)\n',
      NATIVE,
    );
    expect(refusal(files).message).toBe('this build has several projects that can be run: a, b');
  });

  test('without a plugin that packages it, the error says which to add', () => {
    const error = refusal(sbt('name := "x"\n', ''));
    expect(error.kind).toBe('NO_PROVIDER_DETECTED');
    expect(error.hint).toContain('addSbtPlugin("com.github.sbt" % "sbt-native-packager"');
  });

  test('options of .jvmopts are passed on, and nothing else of it', () => {
    const files = {
      ...sbt('enablePlugins(JavaAppPackaging)\n', NATIVE),
      '.jvmopts': "-Xmx2G\n# no\n; rm -rf /\n-Da='b'\n",
    };
    expect(planOf(files).build[0]).toStartWith("java $SBT_OPTS '-Xmx2G' '-Da='\\''b'\\''' -Dsbt");
  });

  test('an old sbt gets a Java that it runs on', () => {
    const files = {
      ...sbt('enablePlugins(JavaAppPackaging)\n', NATIVE),
      'project/build.properties': 'sbt.version=1.5.8\n',
    };
    expect(planOf(files).decisions).toContain('Java 11: sbt 1.5.8 in project/build.properties says "Java <=11"');
  });
});
