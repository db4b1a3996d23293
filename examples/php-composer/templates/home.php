<!doctype html>
<html lang="en">
<head>
    <meta charset="utf-8">
    <title>php-composer</title>
    <link rel="stylesheet" href="/style.css">
</head>
<body>
    <h1>Hello from PHP</h1>
    <ul>
        <?php foreach ($products as $product): ?>
            <li><a href="/products/<?= htmlspecialchars($product->slug) ?>"><?= htmlspecialchars($product->name) ?></a>, <?= htmlspecialchars($product->price()) ?></li>
        <?php endforeach ?>
    </ul>
    <p>PHP <?= PHP_VERSION ?></p>
</body>
</html>
