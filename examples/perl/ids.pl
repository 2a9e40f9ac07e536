#!/usr/bin/env perl
# Reads and writes sno strings and the fields of UUIDs of version 7, from docs/formats.md alone. polyflake does not support
# Perl: this program shows how an implementation in any language is checked against tests/vectors:
#
#     cargo xtask conformance --program 'perl examples/perl/ids.pl'
#
# It reads one request in JSON per line and writes one answer per line (tests/README.md, "The conformance protocol").
use strict;
use warnings;
no warnings 'portable'; # integers have 64 bits
use JSON::PP;

my $ALPHABET = join '', 2 .. 9, 'a' .. 'x';
my %VALUE = map { substr($ALPHABET, $_, 1) => $_ } 0 .. 31;
my $SNO_EPOCH_MS = 1_262_304_000_000;
my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# An error is an exception: a code, and for an invalid character its zero-based position.
sub fail { my ($code, $position) = @_; die { code => $code, defined $position ? (position => $position) : () } }

# The value of an unsigned integer of a request, which is a number or a string of digits.
sub integer {
    my ($value, $bits) = @_;
    my $max = $bits == 64 ? '18446744073709551615' : (1 << $bits) - 1;
    fail('out_of_range') if $value !~ /^[0-9]{1,19}$/ || $value > $max;
    return 0 + $value;
}

sub bytes {
    my ($hex, $length) = @_;
    fail('invalid_length') if length $hex != 2 * $length;
    return pack 'H*', $hex;
}

# ---- sno: 10 bytes, big-endian: 39 timestamp, 1 tick-tock, 8 metabyte, 16 partition, 16 sequence

sub sno_fields {
    my ($bytes) = @_;
    my ($high, $low, $metabyte, $partition, $sequence) = unpack 'N C C n n', $bytes;
    my $head = $high << 8 | $low;
    my $tick = $head >> 1;
    return {
        hex => unpack('H*', $bytes), text => sno_text($bytes), tick => "$tick", unix_ms => '' . ($SNO_EPOCH_MS + 4 * $tick),
        tick_tock => $head & 1, metabyte => $metabyte, partition => $partition, sequence => $sequence,
    };
}

sub sno_bytes {
    my ($part) = @_;
    my $head = integer($part->{tick}, 39) << 1 | integer($part->{tick_tock}, 1);
    my @rest = (integer($part->{metabyte}, 8), integer($part->{partition}, 16), integer($part->{sequence}, 16));
    return pack 'N C C n n', $head >> 8, $head & 255, @rest;
}

# 16 characters of 5 bits each.
sub sno_text {
    my $bits = unpack 'B80', $_[0];
    return join '', map { substr $ALPHABET, oct "0b$_", 1 } $bits =~ /.{5}/g;
}

sub sno_parse {
    my ($text) = @_;
    fail('invalid_length') if length $text != 16;
    my @characters = split //, $text;
    my ($wrong) = grep { !exists $VALUE{ $characters[$_] } } 0 .. 15;
    fail('invalid_character', $wrong) if defined $wrong;
    return pack 'B80', join '', map { sprintf '%05b', $VALUE{$_} } @characters;
}

# Changes one field of an ID.
sub sno_with {
    my ($arguments) = @_;
    my %part = %{ sno_fields(sno_parse($arguments->{text})) };
    $part{$_} = $arguments->{$_} for grep { exists $arguments->{$_} } qw(metabyte partition sequence);
    return sno_fields(sno_bytes(\%part));
}

# A UUID of version 8 keeps the 80 bits in their order, around the version and the variant.
sub sno_to_uuid8 {
    my $bits = unpack 'B80', $_[0];
    $bits =~ /^(.{48})(.{12})(.{4})(.{16})$/ or die 'expected 80 bits';
    return uuid_text(pack 'B128', "${1}1000${2}10${3}${4}" . '0' x 42);
}

sub sno_from_uuid8 {
    my $bits = unpack 'B128', uuid_bytes($_[0]);
    $bits =~ /^(.{48})1000(.{12})10(.{4})(.{16})0{42}$/ or fail('not_canonical');
    return pack 'B80', "$1$2$3$4";
}

# ---- UUID v7: 48 Unix milliseconds, 4 version, 12 sequence, 2 variant, 6 sequence, 56 random

sub uuid_text { return join '-', unpack('H*', $_[0]) =~ /^(.{8})(.{4})(.{4})(.{4})(.{12})$/ }

sub uuid_bytes {
    my ($text) = @_;
    fail('invalid_length') if length $text != 36;
    for my $at (0 .. 35) {
        my $allowed = grep({ $_ == $at } 8, 13, 18, 23) ? qr/-/ : qr/[0-9a-fA-F]/;
        fail('invalid_character', $at) if substr($text, $at, 1) !~ $allowed;
    }
    return pack 'H*', $text =~ tr/-//dr;
}

sub uuid7_fields {
    my ($bytes) = @_;
    my $bits = unpack 'B128', $bytes;
    $bits =~ /^(.{48})0111(.{12})10(.{6})(.{56})$/ or fail('not_canonical');
    my ($time, $sequence, $random) = (oct "0b$1", oct "0b$2$3", $4);
    return {
        text => uuid_text($bytes), unix_ms => "$time", sequence => $sequence, hex => unpack('H*', $bytes),
        random => unpack('H*', pack 'B56', $random), worker_id => oct '0b' . substr($random, 0, 16),
    };
}

sub uuid7_bytes {
    my ($part) = @_;
    my ($time, $random) = (integer($part->{unix_ms}, 48), integer($part->{random}, 56));
    my $sequence = sprintf '%018b', integer($part->{sequence}, 18);
    my ($upper, $lower) = $sequence =~ /^(.{12})(.{6})$/;
    return pack 'B128', sprintf('%048b', $time) . "0111${upper}10${lower}" . sprintf('%056b', $random);
}

# ---- The protocol

my %OPERATIONS = (
    'sno.parse' => sub { sno_fields(sno_parse($_[0]{text})) },
    'sno.from_bytes' => sub { sno_fields(bytes($_[0]{hex}, 10)) },
    'sno.from_parts' => sub { sno_fields(sno_bytes($_[0])) },
    'sno.metabyte' => sub { sno_fields(sno_parse($_[0]{text}))->{metabyte} },
    'sno.with' => \&sno_with,
    'sno.to_uuid8' => sub { sno_to_uuid8(sno_parse($_[0]{text})) },
    'sno.from_uuid8' => sub { sno_fields(sno_from_uuid8($_[0]{uuid})) },
    'uuid7.parse' => sub { uuid7_fields(uuid_bytes($_[0]{text})) },
    'uuid7.from_bytes' => sub { uuid7_fields(bytes($_[0]{hex}, 16)) },
    'uuid7.from_parts' => sub { uuid7_fields(uuid7_bytes($_[0])) },
);

$| = 1;
while (my $line = <STDIN>) {
    my $request = $json->decode($line);
    my $operation = $OPERATIONS{ $request->{op} } // sub { fail('unknown_op') };
    my $value = eval { $operation->($request->{args}) };
    my $answer = defined $value ? { ok => $value } : { error => ref $@ ? $@ : { code => 'unexpected', message => "$@" } };
    print $json->encode($answer), "\n";
}
