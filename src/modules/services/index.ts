export * from './model.ts';
export { createServiceStore, type ReplicaRow, type ReplicaState, type ReplicaStore, type ServiceRow, type ServiceStore } from './store.ts';
