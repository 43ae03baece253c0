import type { City } from './build.ts';

export const SOUTH_ASIA: readonly City[] = [
  {
    name: 'Mumbai',
    areas: [
      {
        name: 'Bandra West',
        lat: 19.0596,
        lng: 72.8295,
        tail: 'Mumbai, Maharashtra 400050',
        rows: [
          ['Konkan Courtyard', '14 Waroda Road', 'konkani,seafood', 'A'],
          ['Pav & Co.', '33 Chapel Road', 'street food,indian', 'A-'],
          ['The Second Chutney', '120 Hill Road', 'indian,contemporary', 'A-'],
          ['Bombay Toast Department', '7 Pali Mala Road', 'cafe,sandwiches', 'B+', 'partial'],
        ],
      },
      {
        name: 'Colaba',
        lat: 18.9155,
        lng: 72.8258,
        tail: 'Mumbai, Maharashtra 400005',
        rows: [
          ['Irani Café Shirin', '21 Arthur Bunder Road', 'irani,cafe', 'A-'],
          ['Sea Lounge Thali', '9 Ormiston Road', 'gujarati,thali', 'B+'],
          ['Trishna Bay Crab Room', '12 Mandlik Road', 'seafood', 'A'],
          ['Kebab-e-Gateway', '3 Tullock Road', 'mughlai,kebab', 'B', 'partial'],
        ],
      },
      {
        name: 'Dadar',
        lat: 19.0178,
        lng: 72.8478,
        tail: 'Mumbai, Maharashtra 400014',
        rows: [
          ['श्री स्वाद भोजनालय', '56 Ranade Road', 'maharashtrian,vegetarian', 'A'],
          ['Misal Mandir', '11 Gokhale Road', 'maharashtrian', 'A-'],
          ['चहा आणि भजी', '2 Kelkar Road', 'snacks,tea', 'B+', 'minimal'],
        ],
      },
      {
        name: 'Matunga',
        lat: 19.0269,
        lng: 72.8553,
        tail: 'Mumbai, Maharashtra 400019',
        rows: [
          ['Dosa Darbar', '18 Bhandarkar Road', 'south indian,dosa', 'A'],
          ['Idli & Sons', '27 Lakhamsi Nappu Road', 'south indian,breakfast', 'B+'],
          ['Filter Kaapi Club', '4 Telang Road', 'south indian,cafe', 'A-', 'partial'],
        ],
      },
    ],
  },
];
