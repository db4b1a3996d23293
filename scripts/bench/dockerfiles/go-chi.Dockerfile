FROM golang:1.26 AS build
WORKDIR /app
COPY go.mod go.sum ./
RUN --mount=type=cache,id=@cache@-mod,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,id=@cache@-mod,target=/go/pkg/mod --mount=type=cache,id=@cache@-go,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/app ./cmd/server

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/app /app
COPY templates /templates
COPY static /static
ENV PORT=8080
USER 1000
ENTRYPOINT ["/app"]
