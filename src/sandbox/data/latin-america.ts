import type { City } from './build.ts';

export const LATIN_AMERICA: readonly City[] = [
  {
    name: 'Mexico City',
    areas: [
      {
        name: 'Roma Norte',
        lat: 19.4187,
        lng: -99.1626,
        tail: 'Cuauhtémoc, 06700 Ciudad de México',
        rows: [
          ['Taquería La Paloma', 'Calle Orizaba 88', 'mexican,tacos', 'A'],
          ['Maíz Morado', 'Calle Colima 214', 'mexican,contemporary', 'A+'],
          ['¿Qué Pozole?', 'Calle Tonalá 131', 'mexican,pozole', 'B+'],
          ['El Ñandú Distraído', 'Avenida Álvaro Obregón 60', 'argentine,grill', 'A-', 'partial'],
        ],
      },
      {
        name: 'Coyoacán',
        lat: 19.3467,
        lng: -99.1617,
        tail: 'Coyoacán, 04000 Ciudad de México',
        rows: [
          ['Tostadas Doña Güera', 'Calle Higuera 19', 'mexican,tostadas', 'A-'],
          ['Casa de las Jacarandas', 'Calle Francisco Sosa 202', 'mexican,mole', 'A'],
          ['Café Azulejo', 'Calle Allende 45', 'cafe,breakfast', 'B+', 'partial'],
        ],
      },
      {
        name: 'Polanco',
        lat: 19.4333,
        lng: -99.1937,
        tail: 'Miguel Hidalgo, 11560 Ciudad de México',
        rows: [
          ['Obsidiana', 'Calle Emilio Castelar 155', 'mexican,tasting menu', 'A+'],
          ['Sal y Ceniza', 'Avenida Horacio 522', 'grill,contemporary', 'A'],
          ['Beirut 1957', 'Calle Schiller 130', 'lebanese', 'B+'],
          ['Ostionería Marejada', 'Calle Julio Verne 21', 'seafood,mexican', 'A-'],
        ],
      },
      {
        name: 'Centro Histórico',
        lat: 19.4326,
        lng: -99.1353,
        tail: 'Cuauhtémoc, 06010 Ciudad de México',
        rows: [
          ['Churrería La Campana', 'Calle Regina 34', 'dessert,churros', 'A-'],
          ['Cantina El Último Tranvía', 'Calle Bolívar 71', 'cantina,mexican', 'B', 'partial'],
          ['Fonda Tía Chayo', 'Calle López 12', 'mexican,home cooking', 'B+', 'minimal'],
        ],
      },
    ],
  },
  {
    name: 'São Paulo',
    areas: [
      {
        name: 'Pinheiros',
        lat: -23.5614,
        lng: -46.6893,
        tail: 'São Paulo - SP, 05422-010',
        rows: [
          ['Mandioca & Cia.', 'Rua dos Pinheiros, 412', 'brazilian', 'A-'],
          ['Brasa Mansa', 'Rua Mateus Grou, 88', 'barbecue,brazilian', 'A'],
          ['🇧🇷 Boteco Brasil', 'Rua Artur de Azevedo, 1550', 'bar food,brazilian', 'B+', 'partial'],
          ['Pão, Mel & Açúcar', 'Rua Cônego Eugênio Leite, 920', 'bakery', 'A-'],
        ],
      },
      {
        name: 'Liberdade',
        lat: -23.5587,
        lng: -46.6352,
        tail: 'São Paulo - SP, 01503-010',
        rows: [
          ['Lámen Tanuki', 'Rua Galvão Bueno, 350', 'japanese,ramen', 'A'],
          ['居酒屋 さくら', 'Rua da Glória, 244', 'japanese,izakaya', 'A-', 'partial'],
          ['Pastelaria Três Irmãs', 'Praça da Liberdade, 101', 'street food', 'B'],
        ],
      },
      {
        name: 'Vila Madalena',
        lat: -23.5532,
        lng: -46.6918,
        tail: 'São Paulo - SP, 05435-020',
        rows: [
          ['Feijoada da Vovó Conceição', 'Rua Aspicuelta, 260', 'brazilian,feijoada', 'A-'],
          ['Tapioca no Beco', 'Rua Medeiros de Albuquerque, 77', 'brazilian,vegetarian', 'B+'],
          ['Sertão Vivo', 'Rua Harmonia, 512', 'northeastern brazilian', 'A'],
          ['Café Coado', 'Rua Wisard, 305', 'cafe,bakery', 'A-'],
        ],
      },
      {
        name: 'Bixiga',
        lat: -23.5578,
        lng: -46.6449,
        tail: 'São Paulo - SP, 01323-000',
        rows: [
          ['Cantina Zio Peppino', 'Rua Treze de Maio, 640', 'italian', 'B+'],
          ['Forno di São Genaro', 'Rua Conselheiro Carrão, 288', 'pizza,italian', 'A-', 'partial'],
        ],
      },
    ],
  },
];
