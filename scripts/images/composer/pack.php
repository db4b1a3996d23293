<?php

/* pack.php TARGET: Debian's Composer, which is spread over /usr/share/php, as one archive that runs anywhere. */
$phar = new Phar($argv[1], 0, 'composer.phar');
$files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator('/usr/share/php', FilesystemIterator::SKIP_DOTS | FilesystemIterator::FOLLOW_SYMLINKS));
foreach ($files as $file) {
    $text = str_replace("'/usr/share/php/", "'phar://composer.phar/usr/share/php/", file_get_contents($file->getPathname()));
    $phar->addFromString(substr($file->getPathname(), 1), $text);
}
$phar->addFile(__DIR__ . '/intl.php', 'intl.php');
$phar->addFromString('usr/bin/composer', preg_replace('/^#!.*\n/', '', file_get_contents('/usr/bin/composer')));
$phar->setStub("#!/usr/bin/env php\n<?php Phar::mapPhar('composer.phar'); require 'phar://composer.phar/intl.php'; require 'phar://composer.phar/usr/bin/composer'; __HALT_COMPILER();");
