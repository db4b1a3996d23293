FROM rust:1-slim AS build
WORKDIR /app
COPY . .
RUN --mount=type=cache,id=@cache@-registry,target=/usr/local/cargo/registry --mount=type=cache,id=@cache@-target,target=/app/target \
    cargo build --release --locked && install -D target/release/rust-axum /out/app

FROM debian:trixie-slim
RUN useradd --uid 1000 --create-home app
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/app /usr/local/bin/app
ENV PORT=8080
USER app
CMD ["app"]
