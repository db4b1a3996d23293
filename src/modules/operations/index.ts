export * from './model.ts';
export { createJournal } from './journal.ts';
export { STOPPING, type Executor, type Outcome, type Run } from './execution.ts';
export { createRunner, type Runner } from './runner.ts';
export { accepted, createOperations, type Operations } from './service.ts';
export { createOperationStore, type OperationRow, type OperationStore } from './store.ts';
export { acceptedOr } from './reply.ts';
export { operationsRoutes } from './routes.ts';
