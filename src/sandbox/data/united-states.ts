import type { City } from './build.ts';

export const UNITED_STATES: readonly City[] = [
  {
    name: 'San Francisco',
    areas: [
      {
        name: 'NoPa',
        lat: 37.7752,
        lng: -122.4382,
        tail: 'San Francisco, CA 94117',
        rows: [
          ['Nopa Corner', '701 Divisadero St', 'californian,brunch', 'B+'],
          ['Nopalina Kitchen', '1410 Fulton St', 'mexican', 'A-', 'partial'],
          ['Panhandle Provisions', '1820 Fell St', 'deli,sandwiches', 'B'],
          ['The Copper Ladle', '688 Broderick St', 'soup,american', 'B+'],
        ],
      },
      {
        name: 'Mission District',
        lat: 37.7599,
        lng: -122.4194,
        tail: 'San Francisco, CA 94110',
        rows: [
          ['Taquería La Paloma', '2890 24th St', 'mexican,tacos', 'A'],
          ['🌮🌮🌮', '3310 Mission St', 'tacos', 'B', 'minimal'],
          ['Bread; Butter; Jam', '980 Valencia St', 'bakery,breakfast', 'A-'],
          ['🏳️‍🌈 Rainbow Diner', '601 Guerrero St', 'diner,american', 'B+'],
          ['Fog & Fennel', '3160 18th St', 'californian,italian', 'A'],
          ['Thien Long Kitchen', '2701 16th St', 'vietnamese', 'B+'],
          ['Pupusería Doña Chelo', '3412 22nd St', 'salvadoran', 'A-', 'partial'],
        ],
      },
      {
        name: 'Inner Richmond',
        lat: 37.7801,
        lng: -122.4644,
        tail: 'San Francisco, CA 94118',
        rows: [
          ['Golden Crane', '420 Clement St', 'cantonese,dim sum', 'A-'],
          ['Mandalay Lane', '512 6th Ave', 'burmese', 'A'],
          ['Kvass & Rye', '5120 Geary Blvd', 'eastern european', 'B', 'partial'],
        ],
      },
      {
        name: 'Chinatown',
        lat: 37.7941,
        lng: -122.4078,
        tail: 'San Francisco, CA 94108',
        rows: [
          ['Golden Crane', '815 Jackson St', 'cantonese,seafood', 'B+'],
          ['福星小館', '733 Commercial St', 'cantonese,noodles', 'B', 'partial'],
        ],
      },
      {
        name: 'North Beach',
        lat: 37.8003,
        lng: -122.4101,
        tail: 'San Francisco, CA 94133',
        rows: [
          ['“Nonna” Pina', '1522 Stockton St', 'italian', 'A-'],
          ['+39 Trattoria', '390 Columbus Ave', 'italian,pizza', 'B'],
          ["O'Malley's Anchor", '1310 Grant Ave', 'irish,pub', 'C+', 'minimal'],
        ],
      },
      {
        name: 'Hayes Valley',
        lat: 37.7765,
        lng: -122.4244,
        tail: 'San Francisco, CA 94102',
        rows: [
          ['Lantern & Rye', '499 Hayes St', 'american,cocktails', 'A'],
          ['=SUM(Yum)', '377 Grove St', 'fusion', 'B-', 'partial'],
          ['Crème de la Brume', '540 Octavia St', 'french,dessert', 'A-'],
        ],
      },
      {
        name: '',
        lat: 37.7683,
        lng: -122.387,
        tail: 'San Francisco, CA 94158',
        rows: [['Pier Zero Oyster Cart', '1 Terry A Francois Blvd', 'seafood', 'B', 'minimal']],
      },
    ],
  },
  {
    name: 'New York',
    areas: [
      {
        name: 'West Village',
        lat: 40.7347,
        lng: -74.004,
        tail: 'New York, NY 10014',
        rows: [
          ['Lantern & Rye', '88 Perry St', 'american,cocktails', 'A'],
          ['Nopa East', '301 Bleecker St', 'californian', 'B+', 'partial'],
          ['Salt, Smoke & Time', '612 Hudson St', 'barbecue,american', 'A-'],
          ['Petit Comité', '27 Barrow St', 'french,wine bar', 'A+'],
        ],
      },
      {
        name: 'East Village',
        lat: 40.7265,
        lng: -73.9815,
        tail: 'New York, NY 10009',
        rows: [
          ['Kumo Udon', '210 E 9th St', 'japanese,udon', 'A-'],
          ['Pierożek', '131 1st Ave', 'polish,dumplings', 'B+'],
          ['@home', '440 E 6th St', 'american,brunch', 'B'],
          ['Smörgås Bar', '95 Avenue A', 'swedish,sandwiches', 'B+', 'partial'],
        ],
      },
      {
        name: 'Harlem',
        lat: 40.8116,
        lng: -73.9465,
        tail: 'New York, NY 10027',
        rows: [
          ["Miss Odessa's Table", '2210 Frederick Douglass Blvd', 'soul food', 'A'],
          ['Teranga Avenue', '160 W 116th St', 'senegalese', 'A-'],
          ['Uptown Injera', '380 Lenox Ave', 'ethiopian,vegetarian', 'B+'],
          ['Sugar Hill Waffle Room', '706 St Nicholas Ave', 'breakfast,soul food', 'B+'],
        ],
      },
      {
        name: 'Flushing',
        lat: 40.7596,
        lng: -73.8303,
        tail: 'Queens, NY 11354',
        rows: [
          ['老北京炸醬麵', '4128 Main St', 'chinese,noodles', 'A-', 'partial'],
          ['Lucky Jade Hot Pot', '13620 Roosevelt Ave', 'sichuan,hot pot', 'B+'],
          ['달빛 국수 Moonlight Noodles', '15024 Northern Blvd', 'korean,noodles', 'A'],
        ],
      },
      {
        name: 'Williamsburg',
        lat: 40.7143,
        lng: -73.9573,
        tail: 'Brooklyn, NY 11211',
        rows: [
          ['Anchovy Social', '170 Berry St', 'spanish,tapas', 'A-'],
          ['The "Other" Place', '333 Grand St', 'american,burgers', 'B'],
          ['Slice of Havemeyer', '200 Havemeyer St', 'pizza', 'A'],
          ['Bao Bao Bao', '68 N 7th St', 'taiwanese', 'B+', 'partial'],
        ],
      },
    ],
  },
  {
    name: 'Los Angeles',
    areas: [
      {
        name: 'Silver Lake',
        lat: 34.0869,
        lng: -118.2702,
        tail: 'Los Angeles, CA 90026',
        rows: [
          ['Taquería La Paloma', '2905 Sunset Blvd', 'mexican,tacos', 'A-'],
          ['Reservoir Picnic', '1712 Silver Lake Blvd', 'californian,salads', 'B+'],
          ['Night Heron', '3801 W Sunset Blvd', 'wine bar,small plates', 'A'],
          ['Oaxaca Nights', '2600 Hyperion Ave', 'oaxacan,mexican', 'A-'],
        ],
      },
      {
        name: 'Koreatown',
        lat: 34.0618,
        lng: -118.3005,
        tail: 'Los Angeles, CA 90005',
        rows: [
          ['Ember & Ash Galbi', '3300 W 6th St', 'korean,barbecue', 'A'],
          ['할머니 순두부', '621 S Western Ave', 'korean,tofu', 'A-', 'partial'],
          ['Midnight Banchan', '3515 Wilshire Blvd', 'korean', 'B+'],
        ],
      },
      {
        name: 'Venice',
        lat: 33.991,
        lng: -118.466,
        tail: 'Los Angeles, CA 90291',
        rows: [
          ['Açaí Açaí!', '1501 Abbot Kinney Blvd', 'brazilian,juice', 'B'],
          ['Driftwood & Dill', '62 Windward Ave', 'seafood,californian', 'A-'],
          ['-18° Gelato', '1102 Pacific Ave', 'ice cream,italian', 'B+', 'minimal'],
        ],
      },
      {
        name: 'Boyle Heights',
        lat: 34.0338,
        lng: -118.2053,
        tail: 'Los Angeles, CA 90033',
        rows: [
          ['Mariscos El Ancla Azul', '1880 E 1st St', 'mexican,seafood', 'A'],
          ['Birria Los Cuates', '2414 E Cesar E Chavez Ave', 'mexican,birria', 'A-', 'partial'],
        ],
      },
    ],
  },
];
