<?php

/* What Composer uses of PHP's intl extension, which official images do not have: the archive of the official image brings this too. */
if (!class_exists('Normalizer')) {
    class Normalizer
    {
        const NFD = 4;
        const NFKD = 8;
        const NFC = 16;
        const NFKC = 32;
        const FORM_D = 4;
        const FORM_KD = 8;
        const FORM_C = 16;
        const FORM_KC = 32;

        public static function isNormalized($text, $form = self::NFC)
        {
            return true;
        }

        public static function normalize($text, $form = self::NFC)
        {
            return $text;
        }
    }

    function normalizer_is_normalized($text, $form = Normalizer::NFC)
    {
        return true;
    }

    function normalizer_normalize($text, $form = Normalizer::NFC)
    {
        return $text;
    }

    function grapheme_strlen($text)
    {
        return mb_strlen($text, 'UTF-8');
    }

    function grapheme_substr($text, $offset, $length = null)
    {
        return mb_substr($text, $offset, $length, 'UTF-8');
    }
}
