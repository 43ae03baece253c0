import type { City } from './build.ts';

export const AFRICA: readonly City[] = [
  {
    name: 'Nairobi',
    areas: [
      {
        name: 'Westlands',
        lat: -1.2676,
        lng: 36.8108,
        tail: 'Nairobi',
        rows: [
          ['Mama Wanjiru’s Kitchen', 'Mpaka Road 14', 'kenyan,home cooking', 'A-'],
          ['Nyama & Moto', 'Woodvale Grove 22', 'kenyan,barbecue', 'A'],
          ['Gujarat Garden', 'Muthithi Road 60', 'indian,vegetarian', 'A-', 'partial'],
          ['Addis Evening', 'Parklands Road 9', 'ethiopian', 'B+'],
          ['Matoke House', 'Ring Road Parklands 41', 'ugandan', 'B', 'partial'],
        ],
      },
      {
        name: 'Kilimani',
        lat: -1.2903,
        lng: 36.7876,
        tail: 'Nairobi',
        rows: [
          ['Pwani Table', 'Argwings Kodhek Road 131', 'swahili,seafood', 'A'],
          ['Ugali Republic', 'Wood Avenue 18', 'kenyan', 'B+'],
          ['Chapati Junction', 'Ngong Road 402', 'street food,kenyan', 'B', 'minimal'],
          ['Kahawa & Kitabu', 'Lenana Road 75', 'cafe,breakfast', 'A-', 'partial'],
        ],
      },
      {
        name: 'Karen',
        lat: -1.3194,
        lng: 36.7073,
        tail: 'Nairobi',
        rows: [
          ['The Jacaranda Verandah', 'Karen Road 210', 'contemporary,kenyan', 'A'],
          ['Tilapia by the Dam', 'Bogani East Road 33', 'seafood', 'B+', 'partial'],
          ['Wood Fire Langata', 'Langata Road 519', 'pizza,italian', 'B'],
          ['Giraffe & Grain', 'Marula Lane 8', 'bakery,cafe', 'A-'],
        ],
      },
    ],
  },
  {
    name: 'Cairo',
    areas: [
      {
        name: 'Zamalek',
        lat: 30.0626,
        lng: 31.2197,
        tail: 'Cairo 11211',
        rows: [
          ['مطعم ليالي النيل', '12 Aziz Abaza Street', 'egyptian,grill', 'A-'],
          ['Koshary El Gezira', '26 July Street 140', 'egyptian,koshary', 'B+'],
          ['Café Qasr', '5 Hassan Sabry Street', 'cafe,levantine', 'B', 'partial'],
        ],
      },
      {
        name: 'Downtown',
        lat: 30.0478,
        lng: 31.2388,
        tail: 'Cairo 11511',
        rows: [
          ['فول وطعمية أم حسن', '7 Talaat Harb Street', 'egyptian,breakfast', 'A', 'partial'],
          ['Pigeon House 1932', '41 Sherif Street', 'egyptian', 'A-'],
          ['مقهى القمر (Moon Café)', '3 Mahmoud Bassiouny Street', 'cafe', 'B', 'minimal'],
        ],
      },
    ],
  },
];
