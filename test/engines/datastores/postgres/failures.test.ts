import { expect, test } from 'bun:test';
import { DatabaseError } from 'pg';
import { isWrongPassword, postgresFailure, statementFailure } from '#engines/datastores/postgres/failures';

const said = (code: string, more: Partial<DatabaseError> = {}): DatabaseError =>
  Object.assign(new DatabaseError('relation "x" does not exist', 0, 'error'), { code, ...more });

test('a wrong statement is told in the words of Postgres, with the place and its hint', () => {
  const { kind, message, hint, retryable } = statementFailure(
    said('42P01', { position: '15', detail: 'D.', hint: 'H.' }),
  );
  expect([kind, retryable, hint]).toEqual(['INVALID_INPUT', false, 'H.']);
  expect(message).toBe('relation "x" does not exist at character 15 (SQLSTATE 42P01). D.');
});

test('a statement that may pass when it is sent again is a retryable conflict', () => {
  for (const code of ['40001', '40P01', '55P03']) {
    const { kind, retryable } = statementFailure(said(code));
    expect([code, kind, retryable]).toEqual([code, 'CONFLICT', true]);
  }
});

test('a statement that took too long says so', () => {
  expect(statementFailure(said('57014')).kind).toBe('TIMEOUT');
  expect(postgresFailure('count', said('57014')).retryable).toBe(true);
});

test('what the server cannot help is no fault of the statement', () => {
  for (const code of ['08006', '53200', '53300', '57P01', '57P03', '58030', 'XX001']) {
    const { kind, retryable } = statementFailure(said(code));
    expect([code, kind, retryable]).toEqual([code, 'INTERNAL_ERROR', true]);
  }
  expect(statementFailure(said('53100')).httpStatus).toBe(507);
  expect(statementFailure(new Error('Connection terminated unexpectedly')).retryable).toBe(true);
});

test('a refused password is found through berth’s own error, and is no use to send again', () => {
  const failure = postgresFailure('connect', said('28P01'));
  expect([isWrongPassword(failure), failure.retryable]).toEqual([true, false]);
  expect(isWrongPassword(said('42501'))).toBe(false);
});

test('a fault in a statement of berth’s own is not blamed on the user', () => {
  const { kind, retryable, message } = postgresFailure('settle the roles', said('42601'));
  expect([kind, retryable]).toEqual(['INTERNAL_ERROR', false]);
  expect(message).toStartWith('Postgres could not settle the roles: ');
});
