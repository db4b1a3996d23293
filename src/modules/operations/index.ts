export * from './model.ts';
export { createJournal, type Journal } from './journal.ts';
export { createRunner, STOPPING, type Executor, type Outcome, type Run, type Runner } from './runner.ts';
export { accepted, createOperations, type Operations } from './service.ts';
export { createOperationStore, type Checkpoint, type OperationRow, type OperationStore } from './store.ts';
export { acceptedOr } from './reply.ts';
export { operationsRoutes } from './routes.ts';
