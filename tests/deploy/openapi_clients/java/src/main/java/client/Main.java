package client;

import api.ApiClient;
import api.ApiException;
import api.UsersApi;
import api.model.NewUser;
import api.model.User;

/** By openapi-generator. */
public final class Main {
  private static void check(boolean ok, String what) {
    if (!ok) throw new IllegalStateException("java: " + what);
  }

  public static void main(String[] arguments) throws ApiException {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    UsersApi users = new UsersApi(client);
    NewUser ada = new NewUser().name("Ada Lovelace").email("java@example.org");

    User added = users.addUser(ada);
    check(added.getName().equals(ada.getName()), "the name is another one");
    check(users.getUser(added.getId()).equals(added), "the user is another one");
    check(users.listUsers(100L, 0L).getUsers().contains(added), "the user is not in the page");
    try {
      users.addUser(ada);
      check(false, "the address was taken twice");
    } catch (ApiException refused) {
      check(refused.getCode() == 409, "the status is " + refused.getCode());
      check(refused.getResponseBody().contains("/problems/email-taken"), "the problem has another type");
    }
    System.out.println("java: created, got, listed, refused");
  }
}

// SPDX-License-Identifier: Apache-2.0
