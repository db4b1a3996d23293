import protobuf from 'protobufjs';
import descriptor from './proto.json';

/** The part of a build's progress that berth reads. */
export interface StatusResponse {
  vertexes: Vertex[];
  logs: VertexLog[];
  warnings: VertexWarning[];
}

/** One node of the build's graph: mostly one Dockerfile instruction. */
export interface Vertex {
  digest: string;
  name: string;
  cached: boolean;
  started: Timestamp | null;
  completed: Timestamp | null;
  error: string;
}

export interface VertexLog {
  vertex: string;
  /** 1 for stdout, 2 for stderr. */
  stream: number;
  msg: Uint8Array;
}

export interface VertexWarning {
  short: Uint8Array;
}

export interface Timestamp {
  seconds: number;
  nanos: number;
}

/** Decodes the payload of a `moby.buildkit.trace` message. */
export const decodeStatus = (base64: string): StatusResponse => {
  const message = STATUS.decode(Buffer.from(base64, 'base64'));
  return STATUS.toObject(message, { longs: Number, defaults: true, arrays: true }) as StatusResponse;
};

/**
 * The subset of `moby.buildkit.v1` (api/services/control/control.proto of BuildKit) that is read here. Fields left out
 * are skipped by the decoder, those of later BuildKits too.
 */
const STATUS = protobuf.Root.fromJSON(descriptor).lookupType('StatusResponse');
