#!/bin/sh
# nginx_files.sh PORT FOLDER: nginx as a server of files, for lab/cost.py: one worker, sendfile, and files kept open for
# a second, as KATANA keeps them.
set -eu
sed "s,PORT,$1,;s,FOLDER,$2," "$(dirname "$0")/nginx_files.conf" >"$2/nginx.conf"
exec nginx -c "$2/nginx.conf"

# SPDX-License-Identifier: Apache-2.0
