import { useEffect, useState } from "react";
import { useLocation } from "react-router";
import { loadPage } from "./shared/load.js";
import { documentTitle } from "./shared/page.js";

// The data of the page at the current path, or null while it is being fetched.
export function usePage() {
  const { pathname } = useLocation();
  const [page, setPage] = useState(null);
  useEffect(() => {
    let current = true;
    setPage(null);
    loadPage(pathname).then((loaded) => {
      if (!current) return;
      document.title = documentTitle(loaded);
      setPage(loaded);
    });
    return () => { current = false; };
  }, [pathname]);
  return page;
}
