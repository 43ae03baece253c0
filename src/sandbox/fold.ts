/** Letters that Unicode does not decompose into a base letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

/**
 * A name as it is compared: without case, accents, punctuation and a leading "the". Marks of scripts that need them
 * (kana, Thai, Devanagari) stay. Symbols alone fold to nothing.
 */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[ßæœøłđðþı]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/['’‘`´]/g, '')
    .replace(/[&＆]/g, ' and ')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim()
    .replace(/^the (?=.)/, '');
}

/** Other names of a city, its own first. */
const CITY_NAMES: readonly (readonly string[])[] = [
  ['San Francisco', 'SF', 'S.F.', 'San Fran', 'Frisco', 'San Francisco CA', 'San Francisco California'],
  ['New York', 'NY', 'NYC', 'New York City', 'Manhattan', 'New York NY'],
  ['Los Angeles', 'LA', 'L.A.', 'Los Angeles CA'],
  ['Mexico City', 'Ciudad de México', 'CDMX', 'México DF', 'México'],
  ['São Paulo', 'Sampa', 'SP', 'San Pablo'],
  ['London', 'Londres', 'Greater London', 'London UK'],
  ['Paris', 'Paname', 'Paris France'],
  ['Lyon', 'Lyons'],
  ['Berlin', 'Berlin DE'],
  ['Tokyo', '東京', '東京都', 'とうきょう', 'トウキョウ', 'Tōkyō', 'Tokio'],
  ['Seoul', '서울', '서울시', '서울특별시'],
  ['Hong Kong', '香港', 'HK', 'Hongkong'],
  ['Bangkok', 'กรุงเทพ', 'กรุงเทพฯ', 'กรุงเทพมหานคร', 'Krung Thep', 'BKK'],
  ['Mumbai', 'मुंबई', 'मुम्बई', 'Bombay'],
  ['Nairobi', 'Nairobi City', 'NBO'],
  ['Cairo', 'القاهرة', 'Al Qahirah', 'Le Caire'],
  ['Tel Aviv', 'תל אביב', 'תל אביב-יפו', 'Tel Aviv-Yafo', 'TLV'],
  ['Sydney', 'Sydney NSW', 'SYD'],
];

const ALIASES: ReadonlyMap<string, string> = new Map(
  CITY_NAMES.flatMap((names) => names.map((name) => [fold(name), fold(names[0] ?? name)] as const)),
);

/** What two spellings of one city have in common. A part after a comma ("Paris, France") is ignored. */
export function cityKey(city: string): string {
  const folded = fold(city);
  const beforeComma = fold(city.split(/[,、，]/, 1)[0] ?? '');
  return ALIASES.get(folded) ?? ALIASES.get(beforeComma) ?? (beforeComma || folded);
}
