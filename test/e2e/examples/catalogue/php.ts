import type { Example } from '#test/support/examples.ts';

export const phpExamples: Example[] = [
  {
    name: 'php-composer',
    says: '<h1>Hello from PHP</h1>',
    edit: { file: 'templates/home.php', from: 'Hello from PHP', to: 'Hello again from PHP' },
    install: ['docker-php-ext-install', 'composer install --no-dev --no-progress --no-autoloader'],
  },
];
