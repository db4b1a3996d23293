<?php

declare(strict_types=1);

use Acme\Router\Response;
use Acme\Router\Router;
use Shop\Catalogue;
use Shop\View;

require dirname(__DIR__) . '/vendor/autoload.php';

$catalogue = new Catalogue();
$view = new View(dirname(__DIR__) . '/templates');

$router = (new Router())
    ->get('/', fn (): Response => new Response($view->render('home', ['products' => $catalogue->all()])))
    ->get('/products/{slug}', function (array $parameters) use ($catalogue): Response {
        $product = $catalogue->find($parameters['slug']);

        return $product === null ? new Response('Not found', 404) : Response::json($product);
    });

$router->dispatch(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) ?: '/')->send();
