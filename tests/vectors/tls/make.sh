#!/bin/sh
# Makes the certificates of this folder, for a hundred years or for January 2020: tests hold the doctor's handshake
# against them. One key does for all, because nobody trusts any of it outside the tests. Needs openssl and keytool.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LONG="-startdate 20200101000000Z -enddate 21200101000000Z"
OVER="-startdate 20200101000000Z -enddate 20200201000000Z"
HOST="subjectAltName=DNS:kafka-1.hq.internal"
AUTHORITY="basicConstraints=critical,CA:true"

printf '[ca]\ndefault_ca=it\n[it]\ndatabase=%s/index\nnew_certs_dir=%s\nrand_serial=yes\nunique_subject=no\ndefault_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n' \
  "$work" "$work" >"$work/ca.cnf"
: >"$work/index"
openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out key.pem

made() { # made NAME SIGNER COMMON-NAME TIMES EXTENSION: NAME.crt, signed by SIGNER.crt or by itself
  openssl req -new -key key.pem -subj "/CN=$3" -out "$work/csr"
  printf '%s\n' "$5" >"$work/ext"
  signer="-cert $work/$2.crt"
  [ "$2" = itself ] && signer=-selfsign
  # shellcheck disable=SC2086
  openssl ca -batch -config "$work/ca.cnf" -notext -keyfile key.pem $signer $4 -extfile "$work/ext" \
    -in "$work/csr" -out "$work/$1.crt" 2>"$work/said" || { cat "$work/said" >&2; exit 1; }
}
shown() { # shown FILE NAME...: the chain that a broker shows
  file=$1
  shift
  for name; do cat "$work/$name.crt"; done >"$file"
}

made root itself 'HQ root' "$LONG" "$AUTHORITY"
made stranger itself 'A stranger' "$LONG" "$AUTHORITY"
made lapsed itself 'HQ root of 2020' "$OVER" "$AUTHORITY"
made issuing root 'HQ issuing' "$LONG" "$AUTHORITY"
made issuing-over root 'HQ issuing of 2020' "$OVER" "$AUTHORITY"
made good issuing kafka-1 "$LONG" "$HOST"
made over issuing kafka-1 "$OVER" "$HOST"
made own-over itself kafka-1 "$OVER" "$HOST"
made of-lapsed lapsed kafka-1 "$LONG" "$HOST"
made below-over issuing-over kafka-1 "$LONG" "$HOST"
made common-name root kafka-1.hq.internal "$LONG" 'basicConstraints=CA:false'
made for-clients root app "$LONG" 'extendedKeyUsage=clientAuth'
made of-a-stranger stranger app "$LONG" 'extendedKeyUsage=clientAuth'
made address-as-name root kafka-1 "$LONG" 'subjectAltName=DNS:127.0.0.1'

# Without -jdktrust, which openssl has from 3.2 on, Java trusts nothing in it.
openssl pkcs12 -export -nokeys -in "$work/root.crt" -passout pass:canary-91cd -out openssl.p12
for kind in JKS PKCS12; do
  rm -f trust.$kind keys.$kind
  keytool -importcert -noprompt -alias ca -file "$work/root.crt" -keystore trust.$kind -storetype $kind -storepass canary-91cd
  own=''
  [ $kind = JKS ] && own='-keypass canary-5aa0'
  for alias in app other; do
    # shellcheck disable=SC2086
    keytool -genkeypair -alias $alias -dname CN=$alias -keyalg EC -groupname secp256r1 -validity 36500 \
      -keystore keys.$kind -storetype $kind -storepass canary-91cd $own
  done
done
for name in root stranger lapsed issuing own-over of-lapsed common-name for-clients of-a-stranger address-as-name; do
  shown "$name.pem" "$name"
done
shown whole.pem good issuing
shown alone.pem good
shown issuing-and-root.pem issuing root
shown over.pem over issuing
shown below-over.pem below-over issuing-over
