import type { City } from './build.ts';

export const MIDDLE_EAST: readonly City[] = [
  {
    name: 'Tel Aviv',
    areas: [
      {
        name: 'Florentin',
        lat: 32.0565,
        lng: 34.7704,
        tail: 'Tel Aviv-Yafo',
        rows: [
          ['חומוס של סבתא', 'Vital Street 11', 'israeli,hummus', 'A-'],
          ['Levinsky Spice Bar', 'Levinsky Street 58', 'israeli,small plates', 'A'],
          ['Burek & Co; Since 1971', 'Abarbanel Street 30', 'balkan,bakery', 'B+', 'partial'],
        ],
      },
      {
        name: 'Old North',
        lat: 32.0921,
        lng: 34.7778,
        tail: 'Tel Aviv-Yafo',
        rows: [
          ['בית קפה הנמל', 'Hataarucha Street 4', 'cafe,breakfast', 'B+', 'partial'],
          ['Yam Tikhoni', 'Dizengoff Street 240', 'mediterranean,seafood', 'A-'],
          ['Sabich "1"', 'Ibn Gabirol Street 99', 'iraqi,sandwiches', 'A'],
        ],
      },
    ],
  },
];
