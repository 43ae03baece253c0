import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cityKey, createCatalog, sampleRestaurants } from '../../../src/sandbox/restaurants.ts';

const catalog = createCatalog(sampleRestaurants());
const names = (name: string, city: string) => catalog.find(name, city).map((restaurant) => restaurant.name);

describe('cityKey', () => {
  it.each([
    ['San Francisco', ['SF', 'san fran', 'SAN FRANCISCO', 'San Francisco, CA', 'S.F.']],
    ['New York', ['NYC', 'New York City', 'new york, ny']],
    ['Los Angeles', ['LA', 'los ángeles']],
    ['Tokyo', ['東京', 'とうきょう', 'Tōkyō', '東京都']],
    ['Mexico City', ['Ciudad de México', 'CDMX', 'ciudad de mexico']],
    ['São Paulo', ['Sao Paulo', 'SÃO PAULO']],
    ['Cairo', ['القاهرة']],
    ['Tel Aviv', ['תל אביב', 'Tel Aviv-Yafo']],
    ['Mumbai', ['मुंबई', 'Bombay']],
    ['Bangkok', ['กรุงเทพ']],
    ['Seoul', ['서울']],
    ['Hong Kong', ['香港']],
  ])('%s is also known as %j', (city, others) => {
    for (const other of others) expect(cityKey(other)).toBe(cityKey(city));
  });

  it('differs for different cities, including unknown ones', () => {
    const cities = ['San Francisco', 'New York', 'Lyon', 'Atlantis', 'El Dorado', 'Tokyo'];
    expect(new Set(cities.map(cityKey)).size).toBe(cities.length);
  });
});

describe('find', () => {
  it('sorts by match: same name, prefix, words, part of the name; then by the order of the data', () => {
    const list = ['Grand Nopa', 'Panopa', 'Nopalito', 'Nopa', 'Nopa Corner', 'Other'];
    const own = createCatalog(list.map((name, place) => ({ service_id: String(place), name, city: 'X' })));
    expect(own.find('NOPA', 'x').map(({ name }) => name)).toEqual([
      'Nopa',
      'Nopalito',
      'Nopa Corner',
      'Grand Nopa',
      'Panopa',
    ]);
  });

  it.each([
    ['creme de la brume', 'SF', ['Crème de la Brume']],
    ['copper ladle', 'SF', ['The Copper Ladle']],
    ['the copper ladle', 'SF', ['The Copper Ladle']],
    ['omalleys', 'SF', ["O'Malley's Anchor"]],
    ['nonna pina', 'SF', ['“Nonna” Pina']],
    ['🌮', 'SF', ['🌮🌮🌮']],
    ['smoke salt', 'NYC', ['Salt, Smoke & Time']],
    ['ことり', '東京', ['すし ことり']],
    ['달빛', 'Seoul', ['달빛 국수']],
    ['حسن', 'Cairo', ['فول وطعمية أم حسن']],
    ['golden crane', 'SF', ['Golden Crane', 'Golden Crane']],
    ['café lumière', 'Paris', ['Cafe\u0301 Lumie\u0300re']],
  ])('%s in %s returns %j', (name, city, found) => {
    expect(names(name, city)).toEqual(found);
  });

  it('returns each restaurant of the sample data first when its own name is searched', () => {
    for (const { name, city } of sampleRestaurants()) expect(names(name, city)[0]).toBe(name);
  });

  it('accepts any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (name, city) => {
        expect(catalog.find(name, `Nowhere ${city}`)).toEqual([]);
        expect(catalog.find(name, 'SF').every((restaurant) => restaurant.city === 'San Francisco')).toBe(
          true,
        );
      }),
    );
  });
});
