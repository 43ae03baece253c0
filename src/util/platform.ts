import { fstatSync } from 'node:fs';

/** Traits of a platform; the paths of its folders are in `storage/paths.ts`, owners and modes in `storage/trust.ts`. */
interface PlatformTraits {
  /** Endings of the files that a command may have. */
  readonly commandSuffixes: readonly string[];
  /** Starts a command that may be a script, such as `restaurant.cmd`, without a shell of the caller's. */
  readonly launcher: readonly string[];
  /** Opens a URL; undefined where that depends on the desktop. */
  readonly opener?: readonly [string, ...string[]];
  readonly shell: 'posix' | 'windows';
  /** Whether names such as NUL are devices in every folder. */
  readonly hasDeviceNames: boolean;
  /** Whether a program that is started may outlive this one only in a process group of its own. */
  readonly hasProcessGroups: boolean;
}

const POSIX: PlatformTraits = {
  commandSuffixes: [''],
  launcher: [],
  shell: 'posix',
  hasDeviceNames: false,
  hasProcessGroups: true,
};
const WINDOWS: PlatformTraits = {
  // npm installs commands as .cmd files, which only cmd.exe can start, as .bat files.
  commandSuffixes: ['.com', '.exe', '.bat', '.cmd'],
  launcher: ['cmd', '/c'],
  opener: ['rundll32', 'url.dll,FileProtocolHandler'],
  shell: 'windows',
  hasDeviceNames: true,
  hasProcessGroups: false,
};
const PLATFORMS: Partial<Record<NodeJS.Platform, PlatformTraits>> = {
  win32: WINDOWS,
  darwin: { ...POSIX, opener: ['open'] },
};

export const traitsOf = (platform: NodeJS.Platform): PlatformTraits => PLATFORMS[platform] ?? POSIX;

/** Whether a stream can be used by its file descriptor, which is faster than Node's streams: they take milliseconds to create. */
export function isFileOrPipe(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
}
