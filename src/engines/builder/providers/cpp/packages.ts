import type { CacheMount } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';

/** A package manager for C and C++ that a project uses besides Debian. */
export interface PackageManager {
  name: string;
  reason: string;
  apt: string[];
  caches: CacheMount[];
  /** Before the sources are there; what it leaves stays in the layer. */
  install: { manifests: string[]; commands: string[] };
  /** More options for CMake, and for nothing else. */
  cmakeFlags: string[];
}

/** Conan or vcpkg, when the project has a manifest of theirs. */
export const packageManager = (app: Dir): PackageManager | null => {
  const conanfile = app.firstOf('conanfile.py', 'conanfile.txt');
  if (conanfile !== undefined) return conan(app, conanfile);
  return app.has('vcpkg.json') ? vcpkg(app) : null;
};

const conan = (app: Dir, conanfile: string): PackageManager => {
  const text = app.read(conanfile) ?? '';
  const generators = ['CMakeDeps', 'CMakeToolchain']
    .filter((name) => !text.includes(name))
    .map((name) => ` -g ${name}`);
  return {
    name: 'Conan',
    reason: `${conanfile} is there`,
    apt: ['cmake', 'python3-pip'],
    caches: [],
    install: {
      manifests: [conanfile, ...(app.has('conan.lock') ? ['conan.lock'] : [])],
      commands: [
        "pip install --break-system-packages --no-cache-dir --root-user-action=ignore --quiet 'conan>=2,<3'",
        'conan profile detect --force',
        `conan install . --output-folder=/conan --build=missing -s build_type=Release${generators.join('')}`,
      ],
    },
    // A layout in the conanfile decides on the folder.
    cmakeFlags: ['-DCMAKE_TOOLCHAIN_FILE="$(find /conan -name conan_toolchain.cmake | head -n 1)"'],
  };
};

const vcpkg = (app: Dir): PackageManager => ({
  name: 'vcpkg',
  reason: 'vcpkg.json is there',
  apt: ['curl', 'tar', 'unzip', 'zip'],
  caches: [{ name: 'vcpkg', target: '/root/.cache/vcpkg' }],
  install: {
    manifests: ['vcpkg.json', ...(app.has('vcpkg-configuration.json') ? ['vcpkg-configuration.json'] : [])],
    commands: [
      'git clone --quiet https://github.com/microsoft/vcpkg /opt/vcpkg',
      '/opt/vcpkg/bootstrap-vcpkg.sh -disableMetrics',
      '/opt/vcpkg/vcpkg install --x-install-root=/vcpkg_installed',
    ],
  },
  cmakeFlags: [
    '-DCMAKE_TOOLCHAIN_FILE=/opt/vcpkg/scripts/buildsystems/vcpkg.cmake',
    '-DVCPKG_INSTALLED_DIR=/vcpkg_installed',
    '-DVCPKG_MANIFEST_INSTALL=OFF',
  ],
});
