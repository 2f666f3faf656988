"""By openapi-python-client."""
import sys

from katana_full_stack_client import Client
from katana_full_stack_client.api.users import add_user, get_user, list_users
from katana_full_stack_client.models import NewUser, Problem, User

client = Client(base_url=sys.argv[1])
ada = NewUser(name="Ada Lovelace", email="python@example.org")

added = add_user.sync(client=client, body=ada)
assert isinstance(added, User) and added.name == ada.name, added
assert get_user.sync(added.id, client=client) == added
assert added in list_users.sync(client=client, limit=100).users
again = add_user.sync_detailed(client=client, body=ada)
assert again.status_code == 409 and isinstance(again.parsed, Problem), again
assert again.parsed.type_ == "/problems/email-taken", again.parsed
print("python: created, got, listed, refused")

# SPDX-License-Identifier: Apache-2.0
