#[macro_use]
extern crate rocket;

use rocket::fs::{FileServer, NamedFile};
use rocket::serde::{json::Json, Serialize};

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Greeting<'r> {
    hello: &'r str,
    from: &'static str,
}

#[get("/")]
async fn index() -> Option<NamedFile> {
    NamedFile::open("static/index.html").await.ok()
}

#[get("/hello/<name>")]
fn hello(name: &str) -> Json<Greeting<'_>> {
    Json(Greeting {
        hello: name,
        from: "from Rocket",
    })
}

#[catch(404)]
fn not_found() -> &'static str {
    "There is nothing here."
}

#[launch]
fn rocket() -> _ {
    rocket::build()
        .mount("/", routes![index, hello])
        .mount("/static", FileServer::from("static"))
        .register("/", catchers![not_found])
}
