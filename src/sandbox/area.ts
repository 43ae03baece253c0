import type { ToolResult } from '../client/types.ts';
import { fold } from './fold.ts';
import { gradePlace } from './grades.ts';
import type { Catalog } from './match.ts';
import { badArgument } from './rpc.ts';
import { outputResult, stringArgument } from './tools.ts';
import type { SandboxRestaurant } from './types.ts';

const TOP = 5;

/** The tool `explore_area`: what there is to eat in a city, or in one neighbourhood of it. */
export function exploreArea(catalog: Catalog, args: Readonly<Record<string, unknown>>): ToolResult {
  const city = stringArgument(args, 'city');
  const neighborhood = args.neighborhood ?? '';
  if (typeof neighborhood !== 'string') throw badArgument('neighborhood', 'is not a string');
  const inCity = catalog.inCity(city);
  const wanted = fold(neighborhood);
  const area =
    wanted === '' ? inCity : inCity.filter((restaurant) => fold(restaurant.neighborhood ?? '') === wanted);
  const output = {
    status: 'ok',
    city: inCity[0]?.city ?? city,
    neighborhood: neighborhood === '' ? null : neighborhood,
    total: area.length,
    cuisines: tally(
      area.flatMap((restaurant) => restaurant.cuisine_tags ?? []),
      'cuisine',
    ),
    grades: tally(
      area.flatMap((restaurant) => restaurant.grade ?? []),
      'grade',
    ),
    neighborhoods: tally(
      area.flatMap((restaurant) => restaurant.neighborhood || []),
      'neighborhood',
    ),
    top: [...area].sort(byGrade).slice(0, TOP).map(brief),
  };
  return { ...outputResult(output), structuredContent: output };
}

/** How often each value occurs, the most frequent first. */
function tally(values: readonly string[], key: string): Record<string, unknown>[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([value, count]) => ({ [key]: value, count }));
}

function byGrade(a: SandboxRestaurant, b: SandboxRestaurant): number {
  return gradePlace(a.grade) - gradePlace(b.grade);
}

function brief({ service_id, name, grade, neighborhood }: SandboxRestaurant): Record<string, unknown> {
  return { service_id, name, grade: grade ?? null, neighborhood: neighborhood || null };
}
