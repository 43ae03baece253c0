interface ServiceChoice {
  readonly settings: { raw(name: 'base-url' | 'endpoint'): { readonly value: string | null } };
  readonly globals: { readonly demo?: true };
  readonly config: { readonly isDamaged: boolean };
}

/** Whether no service is configured, so that only the sample data can be searched. */
export const hasNoService = ({ settings, config }: Omit<ServiceChoice, 'globals'>): boolean =>
  !config.isDamaged && settings.raw('base-url').value === null && settings.raw('endpoint').value === null;

/** Whether a command that calls the service needs `--demo`, which this one does not have. */
export const needsDemo = (run: ServiceChoice): boolean => run.globals.demo !== true && hasNoService(run);
