# docker build -t restaurant .
# docker run --rm -e RESTAURANT_BASE_URL -e RESTAURANT_API_KEY restaurant find "Nopa" --city SF
# With files of the current folder: docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" …
FROM node:24-alpine@sha256:d32cdf619f63fe0471182d08996dd516c6275bb5fd31ae06e55a570bd9e1ad43 AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-alpine@sha256:d32cdf619f63fe0471182d08996dd516c6275bb5fd31ae06e55a570bd9e1ad43
ENV NODE_ENV=production
COPY --from=build /src/bin /app/bin
COPY --from=build /src/dist /app/dist
COPY --from=build /src/package.json /src/LICENSE /app/
RUN ln -s /app/bin/restaurant.js /usr/local/bin/restaurant && mkdir /work && chown node:node /work
USER node
WORKDIR /work
ENTRYPOINT ["restaurant"]
CMD ["help"]
