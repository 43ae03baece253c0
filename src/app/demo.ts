interface Run {
  readonly settings: { raw(name: 'base-url' | 'endpoint'): { readonly value: string | null } };
  readonly globals: { readonly demo?: true };
  readonly config: { readonly isDamaged: boolean };
}

/** Whether no service is configured, so that only the sample data can be searched. */
export const needsDemo = ({ settings, globals, config }: Run): boolean =>
  globals.demo !== true &&
  !config.isDamaged &&
  settings.raw('base-url').value === null &&
  settings.raw('endpoint').value === null;
