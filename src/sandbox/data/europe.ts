import type { City } from './build.ts';

const VERY_LONG =
  'The Honourable Company of Bakers, Brewers, Candlestick Makers and Other Persons Who Would Rather Be Eating Supper by the River';

/** Written with combining accents, as some keyboards and file systems do. */
const DECOMPOSED = 'Cafe\u0301 Lumie\u0300re';

export const EUROPE: readonly City[] = [
  {
    name: 'London',
    areas: [
      {
        name: 'Soho',
        lat: 51.5136,
        lng: -0.1365,
        tail: 'London W1D 4DR',
        rows: [
          ['Lantern & Rye', '41 Greek Street', 'american,cocktails', 'A-'],
          ['Kumo Udon', '12 Frith Street', 'japanese,udon', 'A'],
          ['Rosa’s ‘Little’ Kitchen', '77 Dean Street', 'thai', 'B+'],
          ['Bar Ñoño', '8 Romilly Street', 'spanish,tapas', 'A-'],
        ],
      },
      {
        name: 'Shoreditch',
        lat: 51.5245,
        lng: -0.0786,
        tail: 'London E2 7DP',
        rows: [
          ['Naan Stop', '140 Brick Lane', 'bangladeshi,curry', 'B+'],
          ['Beigel & Brine', '155 Bethnal Green Road', 'jewish,bakery', 'A-'],
          ['The Quiet Goose', '21 Calvert Avenue', 'british,contemporary', 'A+'],
          ['👨‍👩‍👧‍👦 Family Table', '9 Redchurch Street', 'british,family', 'B', 'partial'],
        ],
      },
      {
        name: 'Bermondsey',
        lat: 51.4985,
        lng: -0.0815,
        tail: 'London SE1 3UW',
        rows: [
          [VERY_LONG, '3 Tanner Street', 'british,pub', 'B+'],
          ['Tide & Barrel', '66 Maltby Street', 'seafood,british', 'A'],
          ['Ottoline', '180 Bermondsey Street', 'italian,pasta', 'A-', 'partial'],
        ],
      },
      {
        name: 'Brixton',
        lat: 51.4626,
        lng: -0.1145,
        tail: 'London SW9 8LF',
        rows: [
          ['Scotch Bonnet Social', '14 Atlantic Road', 'jamaican,caribbean', 'A-'],
          ['Jollof & Sons', '52 Electric Avenue', 'nigerian', 'B+'],
          ['Eritrea on Coldharbour', '401 Coldharbour Lane', 'eritrean', 'A-', 'minimal'],
        ],
      },
    ],
  },
  {
    name: 'Paris',
    areas: [
      {
        name: 'Le Marais',
        lat: 48.859,
        lng: 2.3615,
        tail: '75004 Paris',
        rows: [
          ['Le Petit Phare', '14 rue des Écouffes', 'french,seafood', 'A-'],
          ['« Chez Léon »', '31 rue Vieille du Temple', 'french,bistro', 'B+'],
          ['Falafel de la Place', '5 rue des Rosiers', 'israeli,falafel', 'B', 'partial'],
          [DECOMPOSED, '22 rue Saint-Paul', 'cafe,brunch', 'B+'],
        ],
      },
      {
        name: 'Montmartre',
        lat: 48.8864,
        lng: 2.3387,
        tail: '75018 Paris',
        rows: [
          ['Le Petit Phare', '48 rue Lepic', 'french,oysters', 'B+'],
          ["L'Œuf à Cheval", '9 rue des Abbesses', 'french,breakfast', 'A-'],
          ['Aux Trois Moulins', '17 rue Caulaincourt', 'french', 'B', 'partial'],
        ],
      },
      {
        name: 'Belleville',
        lat: 48.8719,
        lng: 2.3837,
        tail: '75020 Paris',
        rows: [
          ['Wenzhou sur Seine', '36 rue de Belleville', 'chinese,noodles', 'A-'],
          ['Le Rouleau de Printemps d’Été', '42 rue de Tourtille', 'vietnamese', 'B+'],
          ['Couscous Chérifa', '110 boulevard de Belleville', 'algerian,couscous', 'A'],
        ],
      },
      {
        name: 'Saint-Germain-des-Prés',
        lat: 48.8539,
        lng: 2.3338,
        tail: '75006 Paris',
        rows: [
          ['Brasserie du Vieux Quai', '61 rue de Seine', 'french,brasserie', 'B+'],
          ['Atelier Cendrier', '18 rue Mazarine', 'french,tasting menu', 'A+'],
          ['Garçon, l’Addition !', '2 rue Lobineau', 'french,wine bar', 'A-', 'partial'],
        ],
      },
    ],
  },
  {
    name: 'Lyon',
    areas: [
      {
        name: 'Vieux Lyon',
        lat: 45.7627,
        lng: 4.8272,
        tail: '69005 Lyon',
        rows: [
          ['Bouchon Mère Augustine', '12 rue du Bœuf', 'lyonnaise,bouchon', 'A'],
          ['Quenelle & Cie', '40 rue Saint-Jean', 'lyonnaise,french', 'A-'],
          ['Le Pot Beaujolais', '7 place Neuve Saint-Jean', 'wine bar,french', 'B+', 'partial'],
        ],
      },
      {
        name: 'Croix-Rousse',
        lat: 45.7747,
        lng: 4.8278,
        tail: '69004 Lyon',
        rows: [
          ['Table des Canuts', '88 boulevard de la Croix-Rousse', 'french,contemporary', 'A'],
          ['Pralines Roses', '3 rue du Mail', 'bakery,dessert', 'A-'],
        ],
      },
    ],
  },
  {
    name: 'Berlin',
    areas: [
      {
        name: 'Kreuzberg',
        lat: 52.4986,
        lng: 13.4034,
        tail: '10999 Berlin',
        rows: [
          ['Straßenküche Öz', 'Oranienstraße 31', 'turkish,grill', 'A-'],
          ['Zum Müden Bären', 'Bergmannstraße 77', 'german', 'B+'],
          ['Kimchi Kiez', 'Adalbertstraße 12', 'korean', 'B+', 'partial'],
        ],
      },
      {
        name: 'Prenzlauer Berg',
        lat: 52.5389,
        lng: 13.4244,
        tail: '10435 Berlin',
        rows: [
          ['Frühstück bei Änne', 'Kastanienallee 58', 'breakfast,cafe', 'A-'],
          ['Gemüse, Gemüse', 'Oderberger Straße 20', 'vegetarian,contemporary', 'A'],
          ['Кафе Ласточка', 'Schönhauser Allee 140', 'russian,dumplings', 'B', 'minimal'],
        ],
      },
    ],
  },
];
