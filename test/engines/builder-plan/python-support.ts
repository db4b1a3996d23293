import type { Files } from './support.ts';

export const needs = (...names: string[]): Files => ({ 'requirements.txt': `${names.join('\n')}\n` });

export const uvicorn = (target: string, flags = ''): string[] => [
  '/bin/sh',
  '-c',
  `exec uvicorn ${target} --host 0.0.0.0 --port "\${PORT:-8080}"${flags}`,
];

export const gunicorn = (target: string, ...flags: string[]): string[] => [
  'gunicorn',
  '--threads',
  '4',
  '--worker-tmp-dir',
  '/dev/shm',
  ...flags,
  target,
];

export const FASTAPI = 'from fastapi import FastAPI\napp = FastAPI()\n';
export const FLASK = 'from flask import Flask\napp = Flask(__name__)\n';
