/** The columns of a search for `tsv` and `csv`, in order. Part of the public interface. */
export const SUMMARY_COLUMNS: readonly string[] = [
  'service_id',
  'name',
  'grade',
  'cuisine_tags',
  'neighborhood',
  'city',
  'address',
  'lat',
  'lng',
  'coverage_level',
];
