# docker build -t restaurant .
# docker run --rm -e RESTAURANT_BASE_URL -e RESTAURANT_API_KEY restaurant find "Nopa" --city SF
FROM node:24-alpine AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-alpine
ENV NODE_ENV=production
COPY --from=build /src/bin /app/bin
COPY --from=build /src/dist /app/dist
COPY --from=build /src/package.json /src/LICENSE /app/
RUN ln -s /app/bin/restaurant.js /usr/local/bin/restaurant
USER node
WORKDIR /work
ENTRYPOINT ["restaurant"]
CMD ["help"]
