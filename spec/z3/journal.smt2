; The journal of one episode as a transition system: what is durable, which
; events are lawful in a state, and what each changes.

(declare-datatypes ((Key 0)) (((key (k-effect Text) (k-scope Text)))))
(declare-datatypes ((Held 0)) (((held (h-session Text) (h-grant Grant)))))
(declare-datatypes ((Life 0)) (((absent) (intended) (started) (settled) (unclear) (closed))))
(declare-datatypes ((State 0)) (((state
  (epoch Num)                    ; fencing token of the lease that is current
  (up Bool)                      ; some daemon serves the episode
  (grants (Array Held Bool))     ; minted into the episode's sessions
  (ended (Array Text Bool))      ; sessions revoked
  (largest (Array Key Num))      ; largest budget ever granted
  (spent (Array Key Num))        ; running total of the intents' costs
  (life (Array Text Life))       ; of each intent, by its name
  (made (Array Text Num))        ; epoch under which each intent was written
  (runs (Array Text Num))        ; how often a handler was called for it
  (outcomes (Array Text Num)))))) ; how many outcomes it has
(declare-datatypes ((Event 0)) ((
  (mint (m-held Held))                                    ; into a session, old or new
  (revoke (v-session Text))
  (seed-grants)                                           ; read the spend
  (deny (d-held Held) (d-asked Request))                  ; decide and record a denial
  (intend (i-under Num) (i-id Text) (i-held Held) (i-asked Request)) ; transaction 1
  (run (r-under Num) (r-id Text))                         ; call the handler
  (finish-effect (f-under Num) (f-id Text) (f-known Bool)) ; transaction 2
  (crash) (restart)
  (takeover)                                              ; the lease changes hands
  (reconcile (c-under Num) (c-id Text))                   ; an operator's word
  (replay))))

(define-fun key-of ((h Held)) Key (key (g-effect (h-grant h)) (g-scope (h-grant h))))
(define-fun allows ((s State) (h Held) (r Request)) Bool
  (and (select (grants s) h) (not (select (ended s) (h-session h)))
       (= (judge (seeded (h-grant h) (select (spent s) (key-of h))) r) allowed)))
(define-fun open ((l Life)) Bool (or (= l intended) (= l started)))

; Which events are lawful. Who writes, writes under the current epoch.
(define-fun may ((s State) (e Event)) Bool
  (ite ((_ is restart) e) (and (not (up s)) (lt (epoch s) maxint))
  (ite ((_ is takeover) e) (lt (epoch s) maxint)
  (ite ((_ is replay) e) true
  (and (up s)
    (ite ((_ is mint) e) (and (not (select (ended s) (h-session (m-held e)))) (le zero (budget (h-grant (m-held e)))))
    (ite ((_ is deny) e) (not (allows s (d-held e) (d-asked e)))
    (ite ((_ is intend) e) (and (= (i-under e) (epoch s)) (= (select (life s) (i-id e)) absent)
                                (allows s (i-held e) (i-asked e)))
    (ite ((_ is run) e) (and (= (r-under e) (epoch s)) (= (select (life s) (r-id e)) intended)
                             (= (select (made s) (r-id e)) (epoch s)))
    (ite ((_ is finish-effect) e) (and (= (f-under e) (epoch s)) (open (select (life s) (f-id e)))
                                       (= (select (made s) (f-id e)) (epoch s)))
    (ite ((_ is reconcile) e) (and (= (c-under e) (epoch s))
                                   (or (= (select (life s) (c-id e)) unclear)
                                       (and (open (select (life s) (c-id e)))
                                            (not (= (select (made s) (c-id e)) (epoch s))))))
         true)))))))))))

; What an event changes; an unlawful one changes nothing.
(define-fun after-event ((s State) (e Event)) State
  (ite (not (may s e)) s (state
    (ite (or ((_ is restart) e) ((_ is takeover) e)) (add (epoch s) one) (epoch s))
    (ite ((_ is crash) e) false (ite ((_ is restart) e) true (up s)))
    (ite ((_ is mint) e) (store (grants s) (m-held e) true) (grants s))
    (ite ((_ is revoke) e) (store (ended s) (v-session e) true) (ended s))
    (ite (and ((_ is mint) e) (lt (select (largest s) (key-of (m-held e))) (budget (h-grant (m-held e)))))
         (store (largest s) (key-of (m-held e)) (budget (h-grant (m-held e)))) (largest s))
    (ite ((_ is intend) e)
         (store (spent s) (key-of (i-held e)) (plus (select (spent s) (key-of (i-held e))) (cost (i-asked e)))) (spent s))
    (ite ((_ is intend) e) (store (life s) (i-id e) intended)
    (ite ((_ is run) e) (store (life s) (r-id e) started)
    (ite ((_ is finish-effect) e) (store (life s) (f-id e) (ite (f-known e) settled unclear))
    (ite ((_ is reconcile) e) (store (life s) (c-id e) closed) (life s)))))
    (ite ((_ is intend) e) (store (made s) (i-id e) (epoch s)) (made s))
    (ite ((_ is run) e) (store (runs s) (r-id e) (add (select (runs s) (r-id e)) one)) (runs s))
    (ite ((_ is finish-effect) e) (store (outcomes s) (f-id e) (add (select (outcomes s) (f-id e)) one)) (outcomes s)))))

; An episode before its first event, looked at through one key, grant, session
; and intent.
(define-fun begins ((s State) (k Key) (h Held) (by Text) (id Text)) Bool
  (and (= (epoch s) zero) (up s) (not (select (grants s) h)) (not (select (ended s) by))
       (= (select (largest s) k) zero) (= (select (spent s) k) zero)
       (= (select (life s) id) absent) (= (select (made s) id) zero)
       (= (select (runs s) id) zero) (= (select (outcomes s) id) zero)))
