use axum::{routing::get, Json, Router};
use serde_json::{json, Value};
use tokio::signal::unix::{signal, SignalKind};

#[tokio::main]
async fn main() {
    let port = std::env::var("PORT").unwrap_or_else(|_| "8080".into());
    let app = Router::new().route("/", get(root));
    let listener = tokio::net::TcpListener::bind(format!("0.0.0.0:{port}"))
        .await
        .expect("the port is free");
    println!("listening on {port}");
    axum::serve(listener, app)
        .with_graceful_shutdown(stopped())
        .await
        .expect("the server runs");
}

async fn root() -> Json<Value> {
    Json(json!({ "hello": "from axum" }))
}

async fn stopped() {
    signal(SignalKind::terminate())
        .expect("signals can be received")
        .recv()
        .await;
}
