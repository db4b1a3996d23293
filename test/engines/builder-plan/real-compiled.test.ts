import { afterAll, describe, expect, test } from 'bun:test';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { docker } from '#test/support/docker.ts';
import { RealBuilds } from './real-support.ts';

const builds = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-compiled-'));

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const write = async (name: string, files: Record<string, string>): Promise<string> => {
  const dir = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
};

const edit = async (path: string, from: string, to: string): Promise<void> => {
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
};

const GO_WORKSPACE = {
  'go.work': 'go 1.24\n\nuse (\n\t./greeting\n\t./services/api\n\t./services/worker\n)\n',
  'greeting/go.mod': 'module example.com/greeting\n\ngo 1.24\n\nrequire github.com/google/uuid v1.6.0\n',
  'greeting/go.sum':
    'github.com/google/uuid v1.6.0 h1:NIvaJDMOsjHA8n1jAhLSgzrAzy1Hgr+hNrb57e+94F0=\ngithub.com/google/uuid v1.6.0/go.mod h1:TIyPZe4MgqvfeYDBFedMoGGpEw/LqOeaOT+nhxU+yHo=\n',
  'greeting/greeting.go':
    'package greeting\n\nimport "github.com/google/uuid"\n\nfunc Text() string { return "from a workspace " + uuid.Nil.String() }\n',
  'services/api/go.mod': 'module example.com/api\n\ngo 1.24\n',
  // The C function shows that cgo is on, and that the program runs with the libraries of the slim image.
  'services/api/main.go': `package main

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"net/http"
	"os"

	"example.com/greeting"
)

func main() {
	page, err := os.ReadFile("templates/page.txt")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%s %d %s", greeting.Text(), C.abs(-7), page)
	})
	panic(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
`,
  'services/api/templates/page.txt': 'template',
  'services/worker/go.mod': 'module example.com/worker\n\ngo 1.24\n',
  'services/worker/main.go': 'package main\n\nfunc main() { println("migrated") }\n',
  'services/api/Procfile': 'web: bin/api\nrelease: worker\n',
};

const RUST_WORKSPACE = {
  'Cargo.toml': '[workspace]\nresolver = "2"\nmembers = ["crates/*"]\n',
  'crates/greeting/Cargo.toml':
    '[package]\nname = "greeting"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nopenssl-sys = "0.9"\n',
  'crates/greeting/src/lib.rs':
    'pub fn text() -> String {\n    format!("from a crate {}", unsafe { openssl_sys::OpenSSL_version_num() } > 0x3000_0000)\n}\n',
  'crates/api/Cargo.toml':
    '[package]\nname = "api"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ngreeting = { path = "../greeting" }\n',
  'crates/api/src/main.rs': `use std::io::{Read, Write};
use std::net::TcpListener;

fn main() {
    let listener = TcpListener::bind(("0.0.0.0", std::env::var("PORT").unwrap().parse().unwrap())).unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let body = format!("{} {}", greeting::text(), include_str!("../note.txt"));
        let _ = write!(stream, "HTTP/1.1 200 OK\\r\\ncontent-length: {}\\r\\n\\r\\n{}", body.len(), body);
    }
}
`,
  'crates/api/note.txt': 'noted',
  'crates/api/src/bin/migrate.rs': 'fn main() {\n    println!("migrated");\n}\n',
  'berth.toml': '[build]\nroot = "crates/api"\nrelease = "migrate"\n',
};

describe('workspaces of compiled languages, built and run for real', () => {
  test('Go: cgo, a module beside the app, another program for the release command, templates', async () => {
    const dir = await write('go-workspace', GO_WORKSPACE);
    const env = { BERTH_ROOT: 'services/api' };
    const { tag } = await builds.build(dir, env);
    const running = await builds.start(tag);
    expect(await running.get('/').then((page) => page.text())).toBe(
      'from a workspace 00000000-0000-0000-0000-000000000000 7 template',
    );
    expect(await docker(['exec', running.id, 'worker'])).toBe('');
    expect(await running.stop()).toBeLessThan(5000);
    await edit(join(dir, 'greeting/greeting.go'), 'from a workspace', 'again from a workspace');
    const again = await builds.build(dir, env);
    expect(again.cached.join('\n')).toContain('RUN go mod download');
    expect(again.log).not.toContain('go: downloading');
  }, 240_000);

  test('Rust: a crate beside the app, a crate that links C, another program, files compiled in', async () => {
    const dir = await write('rust-workspace', RUST_WORKSPACE);
    await copyFile(join(import.meta.dir, 'rust-workspace.lock'), join(dir, 'Cargo.lock'));
    const { tag } = await builds.build(dir);
    const running = await builds.start(tag);
    expect(await running.get('/').then((page) => page.text())).toBe('from a crate true noted');
    expect(await docker(['exec', running.id, 'migrate'])).toBe('migrated\n');
    await running.stop();
    await edit(join(dir, 'crates/api/note.txt'), 'noted', 'changed');
    const again = await builds.build(dir);
    expect(again.cached.join('\n')).toContain('(dependencies)');
    expect(again.log).not.toContain('Compiling openssl-sys');
    const changed = await builds.start(again.tag);
    expect(await changed.get('/').then((page) => page.text())).toBe('from a crate true changed');
    await changed.stop();
  }, 240_000);
});
