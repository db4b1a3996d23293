import type { Example } from '#test/support/examples.ts';

export const javaExamples: Example[] = [
  {
    name: 'java-spring-boot',
    says: '{"hello":"from Spring Boot"}',
    edit: {
      file: 'src/main/java/com/example/demo/HelloController.java',
      from: 'from Spring Boot',
      to: 'from Spring Boot again',
    },
    install: [],
  },
  {
    name: 'kotlin-ktor',
    says: 'Hello from Ktor',
    edit: { file: 'src/main/kotlin/Routing.kt', from: 'from Ktor', to: 'from Ktor again' },
    install: [],
  },
];
