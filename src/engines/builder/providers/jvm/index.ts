import type { Plan } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, type Provider, chosenStart } from '../provider.ts';
import { SCRIPTS, SETTINGS } from './gradle-script.ts';
import { gradleBuild } from './gradle.ts';
import { jvmPlan } from './layout.ts';
import { mavenBuild } from './maven.ts';
import { sbtBuild } from './sbt.ts';

/** Apps in Java, Kotlin and Scala. */
export const jvm: Provider = {
  name: 'java',
  markers: ['pom.xml', ...SCRIPTS, ...SETTINGS, 'build.sbt'],
  doc: {
    title: 'Java, Kotlin, Scala',
    detects: '`pom.xml`, `build.gradle`, `build.gradle.kts`, `settings.gradle`, `settings.gradle.kts`, `build.sbt`',
    notes:
      'Maven, Gradle (the wrapper, where there is one) and sbt; Spring Boot, Quarkus, Micronaut, Ktor, Play, or the jar that shade, assembly, shadow or the application plugin leaves, else the only main method. Several modules: the only one that can be run, or the one with the name of the service. Run by the JRE of the Java that the project compiles for',
  },
  detect: (app) => (toolOf(app) === null ? null : 'strong'),
  plan: planJvm,
};

const BUILDS = { maven: mavenBuild, gradle: gradleBuild, sbt: sbtBuild };

/** Some projects can be built by more than one tool: the one with a wrapper is meant. */
const toolOf = (app: Dir): keyof typeof BUILDS | null => {
  const gradle = app.firstOf(...SCRIPTS, ...SETTINGS) !== undefined;
  const maven = app.has('pom.xml');
  if (gradle && !(maven && app.has('mvnw') && !app.has('gradlew'))) return 'gradle';
  if (maven) return 'maven';
  return app.has('build.sbt') ? 'sbt' : null;
};

function planJvm(context: PlanContext): Plan {
  const { app, notes, overrides } = context;
  const start = chosenStart(context);
  const tool = toolOf(app) ?? 'maven';
  const build = BUILDS[tool](context, start !== undefined || overrides.output !== undefined);
  const { name, version, reason } = build.tool;
  notes.decisions.push(`built by ${name}${version === null ? '' : ` ${version}`}: ${reason}`);
  if (build.outcome?.framework) notes.decisions.push(`framework: ${build.outcome.framework.name}`);
  if (build.outcome !== null) {
    notes.decisions.push(`start command: ${build.outcome.start.join(' ')} (${build.outcome.reason})`);
  }
  return jvmPlan(context, build, start);
}
