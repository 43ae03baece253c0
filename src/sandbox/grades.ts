/** Letter grades, best first. */
export const GRADES: readonly string[] = ['A+', 'A', 'A-', 'B+', 'B', 'B-', 'C+', 'C'];

/** How far down a grade stands; unknown ones and none stand last. */
export function gradePlace(grade: string | undefined): number {
  const place = GRADES.indexOf(grade ?? '');
  return place < 0 ? GRADES.length : place;
}
