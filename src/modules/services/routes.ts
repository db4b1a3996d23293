import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { DryRunSchema, listOf, Name } from '#kernel/schema';
import { AcceptedSchema, acceptedOr } from '#modules/operations';
import { RollbackBody, ScaleServiceBody, ServiceDetailSchema, ServiceSchema } from './model.ts';
import type { Services } from './service.ts';

const ProjectPath = Type.Object({ project: Name });
const ServicePath = Type.Object({ project: Name, service: Name });
const tag = 'services';

/** Reads and changes of services; `createDeploy` is with the pipeline. */
export const servicesRoutes = ({ services }: { services: Services }) =>
  new Elysia()
    .get(
      '/v1/projects/:project/services',
      ({ request, params, query }) => {
        const page = pageOf(query);
        const found = services.listServices(ctxOf(request), params.project, page);
        return listReply('services', found, (service) => service.name, page);
      },
      {
        params: ProjectPath,
        query: ListQuery,
        response: { 200: listOf('services', ServiceSchema) },
        ...route({
          operationId: 'listServices',
          capability: 'read',
          tag,
          summary: 'List services',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .get(
      '/v1/projects/:project/services/:service',
      ({ request, params }) => services.getService(ctxOf(request), params),
      {
        params: ServicePath,
        response: { 200: ServiceDetailSchema },
        ...route({
          operationId: 'getService',
          capability: 'read',
          tag,
          summary: 'Show a service and its replicas: state, restarts, memory, CPU',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .patch(
      '/v1/projects/:project/services/:service',
      ({ request, params, body }) => acceptedOr(services.scaleService(ctxOf(request), params, body)),
      {
        params: ServicePath,
        body: ScaleServiceBody,
        response: { 200: Type.Union([ServiceSchema, DryRunSchema]), 202: AcceptedSchema },
        ...route({
          operationId: 'scaleService',
          capability: 'scale',
          tag,
          summary: 'Set the replica count, or other settings (these need `deploy` too)',
          description: 'Replies 202 with the operation, or 200 with the service when there is nothing to change.',
          errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED'],
          dryRun: true,
        }),
      },
    )
    .post(
      '/v1/projects/:project/services/:service/rollback',
      ({ request, params, body }) => acceptedOr(services.rollbackService(ctxOf(request), params, body?.release)),
      {
        params: ServicePath,
        body: Type.Optional(RollbackBody),
        response: { 200: DryRunSchema, 202: AcceptedSchema },
        ...route({
          operationId: 'rollbackService',
          capability: 'deploy',
          tag,
          summary: 'Go back to the previous release, or to a named one, without building',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .post(
      '/v1/projects/:project/services/:service/restart',
      ({ request, params }) => acceptedOr(services.restartService(ctxOf(request), params)),
      {
        params: ServicePath,
        response: { 200: DryRunSchema, 202: AcceptedSchema },
        ...route({
          operationId: 'restartService',
          capability: 'deploy',
          tag,
          summary: 'Replace the replicas by new ones of the same release',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .delete(
      '/v1/projects/:project/services/:service',
      ({ request, params }) => acceptedOr(services.deleteService(ctxOf(request), params)),
      {
        params: ServicePath,
        response: { 200: DryRunSchema, 202: AcceptedSchema },
        ...route({
          operationId: 'deleteService',
          capability: 'deploy',
          tag,
          summary: 'Delete a service with its releases and logs',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
          confirm: true,
        }),
      },
    );
