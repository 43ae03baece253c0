import type { City } from './build.ts';

export const ASIA_PACIFIC: readonly City[] = [
  {
    name: 'Tokyo',
    areas: [
      {
        name: 'Shibuya',
        lat: 35.6595,
        lng: 139.7005,
        tail: 'Shibuya City, Tokyo 150-0042',
        rows: [
          ['らーめん ふくろう', '12-4 Udagawachō', 'japanese,ramen', 'A'],
          ['Kumo Udon', '3-19 Dōgenzaka', 'japanese,udon', 'A'],
          ['焼き鳥 ひばり', '25-8 Maruyamachō', 'japanese,yakitori', 'A-', 'partial'],
          ['Scramble Curry', '8-1 Jinnan', 'japanese curry', 'B+'],
          ['立ち食い寿司 わかば', '2-24 Dōgenzaka', 'japanese,sushi', 'B+'],
        ],
      },
      {
        name: 'Shinjuku',
        lat: 35.6938,
        lng: 139.7034,
        tail: 'Shinjuku City, Tokyo 160-0022',
        rows: [
          ['居酒屋 よあけ', '3-11 Shinjuku', 'japanese,izakaya', 'B+'],
          ['カフェ・ド・ネコ', '5-2 Kabukichō', 'cafe,dessert', 'B', 'partial'],
          ['🍜 Noodle Yard', '1-9 Nishi-Shinjuku', 'noodles,ramen', 'B+'],
          ['新宿中華 龍の子', '7-14 Yoyogi', 'chinese,dumplings', 'B', 'minimal'],
        ],
      },
      {
        name: 'Ginza',
        lat: 35.6717,
        lng: 139.765,
        tail: 'Chuo City, Tokyo 104-0061',
        rows: [
          ['すし ことり', '6-3 Ginza', 'japanese,sushi', 'A+'],
          ['天ぷら 若松', '4-8 Ginza', 'japanese,tempura', 'A'],
          ['Maison Yuki', '8-5 Ginza', 'french,tasting menu', 'A+'],
          ['喫茶 すずらん', '7-2 Ginza', 'cafe,kissaten', 'A-', 'partial'],
        ],
      },
      {
        name: 'Asakusa',
        lat: 35.7148,
        lng: 139.7967,
        tail: 'Taito City, Tokyo 111-0032',
        rows: [
          ['お好み焼き ぽんぽこ', '2-17 Asakusa', 'japanese,okonomiyaki', 'A-'],
          ['うなぎ 川せみ', '1-30 Hanakawado', 'japanese,eel', 'A', 'partial'],
          ['そば処 つるや', '3-5 Nishiasakusa', 'japanese,soba', 'A-'],
        ],
      },
    ],
  },
  {
    name: 'Seoul',
    areas: [
      {
        name: 'Mapo',
        lat: 37.5563,
        lng: 126.9236,
        tail: 'Mapo-gu, Seoul 04050',
        rows: [
          ['달빛 국수', '31 Wausan-ro', 'korean,noodles', 'A'],
          ['홍대 떡볶이 연구소', '12 Eoulmadang-ro', 'korean,street food', 'B+', 'partial'],
          ['Han River Fried Chicken', '45 Yanghwa-ro', 'korean,fried chicken', 'A-'],
        ],
      },
      {
        name: 'Jongno',
        lat: 37.573,
        lng: 126.9794,
        tail: 'Jongno-gu, Seoul 03154',
        rows: [
          ['할매 순대국', '28 Insadong-gil', 'korean,soup', 'A-'],
          ['The Hanok Table', '9 Bukchon-ro', 'korean,contemporary', 'A+'],
          ['빈대떡 골목집', '88 Changgyeonggung-ro', 'korean,pancakes', 'B+', 'minimal'],
        ],
      },
    ],
  },
  {
    name: 'Hong Kong',
    areas: [
      {
        name: 'Sham Shui Po',
        lat: 22.3307,
        lng: 114.1622,
        tail: 'Kowloon, Hong Kong',
        rows: [
          ['金鶴茶餐廳', '62 Fuk Wing Street', 'cantonese,cha chaan teng', 'A-'],
          ['阿婆豆腐花', '118 Pei Ho Street', 'dessert,tofu', 'A', 'partial'],
        ],
      },
      {
        name: 'Central',
        lat: 22.2819,
        lng: 114.1581,
        tail: 'Central, Hong Kong',
        rows: [
          ['翡翠閣 Jade Pavilion', '33 Wellington Street', 'cantonese,dim sum', 'A+'],
          ['Peak Tram Grill', '10 Lyndhurst Terrace', 'steakhouse', 'B+'],
        ],
      },
    ],
  },
  {
    name: 'Bangkok',
    areas: [
      {
        name: 'Yaowarat',
        lat: 13.7407,
        lng: 100.5096,
        tail: 'Samphanthawong, Bangkok 10100',
        rows: [
          ['ก๋วยเตี๋ยวป้าแดง', '214 Yaowarat Road', 'thai,noodles', 'A'],
          ['ข้าวต้มปลาเจ๊น้อย', '57 Phadung Dao Road', 'thai,seafood', 'A-', 'partial'],
        ],
      },
      {
        name: 'Thonglor',
        lat: 13.7324,
        lng: 100.5821,
        tail: 'Watthana, Bangkok 10110',
        rows: [
          ['Isan Evening', '88 Sukhumvit 55', 'isan,thai', 'A-'],
          ['Mango & Monsoon', '12 Thonglor 10', 'thai,dessert', 'B+'],
          ['ส้มตำยายจันทร์', '5 Ekkamai 12', 'isan,salads', 'A', 'partial'],
        ],
      },
    ],
  },
  {
    name: 'Sydney',
    areas: [
      {
        name: 'Surry Hills',
        lat: -33.8861,
        lng: 151.2111,
        tail: 'Sydney NSW 2010',
        rows: [
          ['Kumo Udon', '301 Crown Street', 'japanese,udon', 'B+'],
          ['Flat White Society', '18 Foveaux Street', 'cafe,brunch', 'A-'],
          ['Wattle & Ash', '455 Bourke Street', 'australian,contemporary', 'A'],
          ['Little Beirut, Big Lunch', '72 Cleveland Street', 'lebanese', 'B+', 'partial'],
        ],
      },
      {
        name: 'Newtown',
        lat: -33.8981,
        lng: 151.1747,
        tail: 'Newtown NSW 2042',
        rows: [
          ['Vegan & Proud 🌱', '210 King Street', 'vegan', 'B+'],
          ['Phở Sống', '388 King Street', 'vietnamese,pho', 'A-'],
          ['Souvlaki Saturday', '150 Enmore Road', 'greek', 'B+'],
          ['Nonno’s Pasta Garage', '14 Enmore Road', 'italian,pasta', 'A-', 'partial'],
        ],
      },
      {
        name: 'Bondi',
        lat: -33.8908,
        lng: 151.2743,
        tail: 'Bondi Beach NSW 2026',
        rows: [
          ['Salt Sister', '96 Campbell Parade', 'seafood,fish and chips', 'A-'],
          ['Southerly', '152 Curlewis Street', 'australian,wine bar', 'A'],
          ['The Late Swim', '7 Hall Street', 'burgers,bar food', 'B', 'minimal'],
        ],
      },
    ],
  },
];
